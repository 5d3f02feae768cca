import type { AgentWithToken } from '@gatehouse/contract'
import { type Route, routes } from '@gatehouse/contract/routes'
import { expect, expectTypeOf, test } from 'vitest'
import {
  type Client,
  ClientError,
  createClient,
  type FetchInit,
  InvalidNameError,
  UnexpectedAnswerError,
  UnreachableError,
} from './index.ts'
import { routes as entries } from './routes.ts'

type Sent = { url: string; init: FetchInit }

function createKit(answer: () => Response) {
  const sent: Sent[] = []
  const api = createClient({
    baseUrl: 'http://127.0.0.1:7703/',
    token: 'gatehouse_user_x',
    fetch: async (url, init) => {
      sent.push({ url, init })
      return answer()
    },
  })
  return { api, sent }
}

const called = ['pauseAgent', 'queryAudit', 'approveApproval']
const fieldsOf = (name: string) => entries.find((entry) => entry.name === name)?.fields?.split(' ')
const anyAnswer = Object.fromEntries(
  called.flatMap((name) => fieldsOf(name) ?? []).map((field): [string, null] => [field, null]),
)

test('has a method for each route of the contract, and no other', () => {
  const { api } = createKit(() => Response.json({}))
  expect(Object.keys(api)).toEqual(Object.keys(routes))
})

test('takes what a route takes, and answers what it answers', () => {
  expectTypeOf<Parameters<Client['getStatus']>>().toEqualTypeOf<[]>()
  expectTypeOf<Parameters<Client['pauseAgent']>[0]>().toEqualTypeOf<{ readonly name: string }>()
  type Query = NonNullable<Parameters<Client['queryAudit']>[0]>
  expectTypeOf<Query['limit']>().toEqualTypeOf<number | undefined>()
  expectTypeOf<ReturnType<Client['rotateAgent']>>().toEqualTypeOf<Promise<AgentWithToken>>()
})

test.each([['{}'], ['null'], ['[]'], ['{"agents"'], ['']])(
  'takes %j for no answer of an operation',
  async (body) => {
    const { api } = createKit(() => new Response(body))
    await expect(api.pauseAgent({ name: 'x' })).rejects.toBeInstanceOf(UnexpectedAnswerError)
  },
)

test('fills the path, the query and the body, and says who asks', async () => {
  const { api, sent } = createKit(() => Response.json(anyAnswer))
  await api.pauseAgent({ name: 'a/b?c' })
  await api.queryAudit({ capability: 'filesystem.*', limit: 5 })
  await api.approveApproval({ id: 'appr-1', digest: 'sha256:0' })
  expect(sent.map(({ url, init }) => [init.method, url, init.body])).toEqual([
    ['POST', 'http://127.0.0.1:7703/api/agents/a%2Fb%3Fc/pause', undefined],
    ['GET', 'http://127.0.0.1:7703/api/audit?capability=filesystem.*&limit=5', undefined],
    ['POST', 'http://127.0.0.1:7703/api/approvals/appr-1/approve', '{"digest":"sha256:0"}'],
  ])
  expect(sent[0]?.init.headers).toEqual({ authorization: 'Bearer gatehouse_user_x' })
})

const withNames = Object.entries<Route>(routes).flatMap(([operation, { path }]) => {
  const names = [...path.matchAll(/:(\w+)/g)].map((match) => match[1] ?? '')
  return names.map((name) => [operation as keyof Client, name, names] as const)
})

test.each(withNames)(
  '%s sends nothing for a %s that is no segment',
  async (operation, name, all) => {
    const { api, sent } = createKit(() => Response.json({}))
    const call = api[operation] as (params: object) => Promise<unknown>
    for (const wrong of ['', '.', '..', undefined, '\ud800']) {
      const params = Object.fromEntries(all.map((each) => [each, each === name ? wrong : 'x']))
      await expect(call(params), JSON.stringify(wrong)).rejects.toThrow(InvalidNameError)
    }
    expect(sent).toEqual([])
  },
)

test('says which version a record must still have, and sends it in no body', async () => {
  const { api, sent } = createKit(() => Response.json({ agent: {}, warnings: [] }))
  await api.editAgent({ name: 'x', purpose: 'Mail', if_match: 3 })
  expect(sent[0]?.init.headers).toMatchObject({ 'if-match': '"3"' })
  expect(sent[0]?.init.body).toBe('{"purpose":"Mail"}')
})

test('throws the problem that the server states', async () => {
  const problem = { code: 'AgentNotFound', detail: 'There is no agent x.', status: 404 }
  const { api } = createKit(() => Response.json(problem, { status: 404 }))
  const error = await api.showAgent({ name: 'x' }).catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(ClientError)
  expect(error).toMatchObject({ status: 404, message: 'There is no agent x.', problem })
})

test('describes an answer that is no problem document', async () => {
  const { api } = createKit(() => new Response('<html>', { status: 502 }))
  await expect(api.getStatus()).rejects.toMatchObject({ status: 502, problem: { status: 502 } })
})

test('tells silence from a refusal', async () => {
  const { api } = createKit(() => {
    throw new TypeError('fetch failed')
  })
  await expect(api.getStatus()).rejects.toThrow(UnreachableError)
})

const chunked = (...chunks: string[]) =>
  new Response(
    new ReadableStream<Uint8Array>({
      start(controller) {
        for (const chunk of chunks) controller.enqueue(new TextEncoder().encode(chunk))
        controller.close()
      },
    }),
  )

test('reads events however the network cuts them', async () => {
  const { api } = createKit(() =>
    chunked('retry: 1000\n\nevent: snap', 'shot\ndata: {"total":', '0}\n', '\n: still here\n\n'),
  )
  const events = []
  for await (const event of api.streamApprovals(new AbortController().signal)) events.push(event)
  expect(events).toEqual([
    { name: 'snapshot', data: { total: 0 } },
    { name: 'heartbeat', data: null },
  ])
})

test('reads an export line by line', async () => {
  const { api } = createKit(() => chunked('{"a":1}\n{"a"', ':2}\n'))
  const lines: string[] = []
  for await (const line of api.exportAudit()) lines.push(line)
  expect(lines).toEqual(['{"a":1}', '{"a":2}'])
})
