import { createKit, type Kit } from '@gatehouse/testkit'
import { expect, test } from 'vitest'
import { createRestApp, type RestApp } from '../../src/transport/rest/create-rest-app.ts'

type Api = { readonly rest: RestApp; readonly token: string }

const openApi = async (kit: Kit, heartbeatMs?: number): Promise<Api> => {
  const silent = () => undefined
  let requests = 0
  const rest = createRestApp({
    app: kit.app,
    version: '1.2.3',
    ids: { next: (prefix) => `${prefix}-${String(++requests).padStart(26, '0')}` },
    log: { debug: silent, info: silent, warn: silent, error: silent },
    ...(heartbeatMs === undefined ? {} : { heartbeatMs }),
  })
  const made = await kit.app.createUserToken(kit.operator(), { label: 'eyes', role: 'viewer' })
  return { rest, token: made.token }
}

const get = ({ rest, token }: Api, path: string, headers: Record<string, string> = {}) =>
  rest.fetch(
    new Request(`http://gatehouse.localhost${path}`, {
      headers: { authorization: `Bearer ${token}`, ...headers },
    }),
  )

test.each(['limit=0', 'limit=501', 'limit=1.5', 'limit=x', 'limit=', 'offset=-1', 'offset=1e2'])(
  'refuses %s',
  async (query) => {
    await using kit = await createKit()
    expect((await get(await openApi(kit), `/api/activity?${query}`)).status).toBe(400)
  },
)

test('pages through what happened, 50 at a time unless told otherwise', async () => {
  await using kit = await createKit()
  await kit.agent('mailbot')
  for (let n = 0; n < 60; n += 1) await kit.invoke('mailbot', 'system.time')
  const api = await openApi(kit)
  const page = async (query = '') => {
    const body: unknown = await (await get(api, `/api/activity${query}`)).json()
    return body as { events: { id: string }[]; total: number; limit: number; offset: number }
  }
  const first = await page()
  expect(first).toMatchObject({ limit: 50, offset: 0, total: 63 })
  expect(first.events).toHaveLength(50)
  const rest = await page('?limit=500&offset=50')
  expect(rest.events).toHaveLength(13)
  expect(new Set([...first.events, ...rest.events].map(({ id }) => id)).size).toBe(63)
  expect((await page('?agent=mailbot')).total).toBe(61)
  expect(await page('?agent=nobody')).toMatchObject({ events: [], total: 0 })
})

/** One connection: reads until it has seen so many events, then is cut in the middle of a frame. */
async function readSome(api: Api, lastEventId: string, wanted: number) {
  const headers = { 'last-event-id': lastEventId }
  const response = await get(api, '/api/activity/stream?agent=mailbot', headers)
  expect(response.headers.get('content-type')).toBe('text/event-stream')
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  const ids: string[] = []
  let [text, last] = ['', lastEventId]
  while (reader && ids.length < wanted) {
    const { done, value } = await reader.read()
    if (done) break
    text += value
    const frames = text.split('\n\n')
    text = frames.pop() ?? ''
    for (const frame of frames) {
      // Ids count as in a browser: once the frame is complete.
      const id = /^id: (.*)$/m.exec(frame)?.[1]
      const data = /^data: (.*)$/m.exec(frame)?.[1]
      if (id !== undefined) last = id
      if (data !== undefined) ids.push((JSON.parse(data) as { id: string }).id)
      if (ids.length === wanted) break
    }
  }
  await reader?.cancel()
  return { ids, last }
}

test('misses none of 10,000 events over 20 lost connections, and tells none twice', async () => {
  await using kit = await createKit()
  await kit.agent('mailbot')
  const api = await openApi(kit)
  const [end] = await kit.parts.audit.rows.ends()
  const start = end?.next ?? 0
  let last = `${kit.parts.node}:${start}`
  const count = 10_000
  const calls = async () => {
    for (let n = 0; n < count; n += 500) {
      await Promise.all(Array.from({ length: 500 }, () => kit.invoke('mailbot', 'system.time')))
      // The next window of the default limit.
      kit.clock.move(60_000)
    }
  }
  const calling = calls()
  const seen: string[] = []
  for (let connection = 0; connection < 21; connection += 1) {
    const wanted = connection === 20 ? count - seen.length : 300 + connection * 13
    const read = await readSome(api, last, wanted)
    seen.push(...read.ids)
    last = read.last
  }
  await calling
  const rows = await kit.parts.audit.rows.range(kit.parts.node, start, start + count, count)
  expect(seen).toEqual(rows.map(({ id }) => id))
  expect(new Set(seen).size).toBe(count)
})

test('begins with now where no place is named, and refuses one that is none', async () => {
  await using kit = await createKit()
  await kit.agent('mailbot')
  const api = await openApi(kit)
  const refused = await get(api, '/api/activity/stream?after=yesterday')
  expect(refused.status).toBe(400)
  expect(refused.headers.get('content-type')).toBe('application/problem+json')
  const response = await get(api, '/api/activity/stream')
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  expect((await reader?.read())?.value).toBe(`retry: 1000\nid: ${kit.parts.node}:3\n\n`)
  await kit.invoke('mailbot', 'system.time')
  const { value } = (await reader?.read()) ?? {}
  expect(value).toMatch(
    new RegExp(
      `^id: ${kit.parts.node}:4\\nevent: activity\\ndata: \\{.*"capability":"system.time".*\\}\\n\\n$`,
    ),
  )
  await reader?.cancel()
})

test('shows that it is alive while nothing happens, and ends when the token is revoked', async () => {
  await using kit = await createKit()
  const api = await openApi(kit, 1)
  const response = await get(api, '/api/activity/stream')
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  const until = async (words: string) => {
    while (!text.includes(words)) {
      const { done, value } = (await reader?.read()) ?? { done: true, value: '' }
      if (done) return
      text += value
    }
  }
  await until(': still here')
  expect(text).toContain(': still here\n\n')
  const [token] = await kit.app.listUserTokens(kit.operator())
  await kit.app.revokeUserToken(kit.operator(), { id: token?.id ?? '' })
  await until('never')
  expect(text).not.toContain('user_token_revoked')
})
