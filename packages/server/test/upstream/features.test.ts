import { createKit, type Kit } from '@gatehouse/testkit'
import { CountedIds } from '@gatehouse/testkit/counted-ids'
import {
  Client as ModernClient,
  StreamableHTTPClientTransport as ModernTransport,
} from '@modelcontextprotocol/client'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { outboundWith } from '../../src/outbound/testing.ts'
import { openGateway } from '../../src/transport/gateway/open-gateway.ts'
import { KeptLog } from '../kit/kept-log.ts'
import { ModernPeer } from '../kit/modern-peer.ts'
import { openNotes } from './features-server.ts'

let notes: Awaited<ReturnType<typeof openNotes>>
let kit: Kit
let token: string

beforeEach(async () => {
  notes = await openNotes()
  kit = await createKit({ outbound: outboundWith({ privateTargets: [new URL(notes.url).host] }) })
  token = await kit.agent('alpha')
})
afterEach(async () => {
  await kit[Symbol.asyncDispose]()
  await notes[Symbol.asyncDispose]()
})

const add = async (name: string): Promise<void> => {
  const { digest } = await kit.app.addUpstream(kit.operator(), {
    name,
    server: { kind: 'http', url: notes.url },
    grants: { folders: [], hosts: [], environment: {} },
    credentials: {},
    per_agent: true,
    dry_run: false,
  })
  await kit.app.acceptUpstream(kit.operator(), { name, digest })
}

const policy = async (...rules: readonly string[]): Promise<void> => {
  const text = `version: 1\nrules:\n${rules.map((rule) => `  - {${rule}}`).join('\n')}\n`
  const { problems } = await kit.parts.policy.save({ text })
  expect(problems).toEqual([])
}
const autonomous = (...patterns: readonly string[]) =>
  policy(...patterns.map((match) => `match: ${match}, tier: autonomous`))

const offered = () => kit.app.offeredFeatures(kit.op('alpha'))
const listed = async (method: 'prompts/list' | 'resources/list' | 'resources/templates/list') =>
  kit.app.listFeatures(kit.op('alpha'), { method })
const read = (uri: string) => kit.app.useFeature(kit.op('alpha'), { method: 'resources/read', uri })

test('nothing is offered, and no person asked, while listing needs one', async () => {
  await add('notes')
  expect(await offered()).toEqual({
    prompts: false,
    resources: false,
    subscriptions: false,
    changingLists: [],
    completions: false,
    logging: true,
  })
  expect(await listed('prompts/list')).toEqual([])
  const complete = await kit.app.useFeature(kit.op('alpha'), {
    method: 'completion/complete',
    ref: { type: 'ref/resource', uri: 'upstream://notes/notes://of/{day}' },
    argument: { name: 'day', value: 't' },
    context: undefined,
  })
  expect(complete).toEqual({ kind: 'absent' })
  for (const capability of ['notes.list_prompts', 'notes.complete_argument'])
    expect(await kit.audit({ capability })).toEqual([])
})

test('entries are those of their server, in texts that hide nothing', async () => {
  await add('notes')
  await add('other')
  await autonomous('notes.*', 'other.*')
  const prompts = await listed('prompts/list')
  expect(prompts.map(({ name }) => name)).toEqual(['notes__sum-up', 'other__sum-up'])
  expect(prompts[0]).toMatchObject({
    title: 'Sum up',
    description: 'Sums up a note.',
    arguments: [{ name: 'note', required: true }],
    _meta: { 'gatehouse/upstream': 'notes' },
  })
  expect((await listed('resources/list')).map(({ uri }) => uri)).toEqual([
    'upstream://notes/notes://first',
    'upstream://other/notes://first',
  ])
  expect((await listed('resources/templates/list'))[0]).toMatchObject({
    uriTemplate: 'upstream://notes/notes://of/{day}',
  })
})

test('a server that fails is left out of a listing', async () => {
  await using other = await openNotes()
  await kit[Symbol.asyncDispose]()
  const privateTargets = [notes.url, other.url].map((url) => new URL(url).host)
  kit = await createKit({ outbound: outboundWith({ privateTargets }) })
  await kit.agent('alpha')
  await add('notes')
  const { url } = notes
  notes = other
  await add('other')
  await autonomous('notes.*', 'other.*')
  expect(await listed('prompts/list')).toHaveLength(2)
  await kit.app.restartUpstream(kit.operator(), { name: 'other' })
  await other[Symbol.asyncDispose]()
  notes = { ...notes, url, [Symbol.asyncDispose]: async () => {} }
  expect((await listed('prompts/list')).map(({ name }) => name)).toEqual(['notes__sum-up'])
})

test('each use is a call of its tool, by policy and on record', async () => {
  await add('notes')
  await policy('match: notes.list_resources, tier: autonomous')
  const waits = await read('upstream://notes/notes://first')
  expect(waits).toMatchObject({ kind: 'pending', pending: { capability: 'notes.read_resource' } })
  const { approval_id } = (waits as { pending: { approval_id: string } }).pending
  await kit.decide(approval_id, 'approve')
  await kit.resolved('alpha', approval_id)
  expect(await read('upstream://notes/notes://first')).toMatchObject({
    kind: 'answered',
    result: { contents: [{ text: 'Buy milk.' }] },
  })
  await policy(
    'match: notes.list_resources, tier: autonomous',
    'match: notes.read_resource, tier: blocked',
  )
  expect(await read('upstream://notes/notes://first')).toMatchObject({ kind: 'absent' })
  await policy(
    'match: notes.list_resources, tier: autonomous',
    'match: notes.read_resource, tier: blocked, when: \'args.uri == "notes://first"\'',
    'match: notes.read_resource, tier: autonomous',
  )
  expect(await read('upstream://notes/notes://first')).toMatchObject({ kind: 'denied' })
  expect(await read('upstream://notes/notes://of/monday')).toMatchObject({
    kind: 'answered',
    result: {
      contents: [{ uri: 'upstream://notes/notes://of/monday', text: 'Water the plants.' }],
    },
  })
  const entries = await kit.audit({ capability: 'notes.read_resource' })
  expect(entries.some(({ result }) => result === 'success')).toBe(true)
})

test('what is not there is told apart from what fails', async () => {
  await add('notes')
  await autonomous('notes.*')
  for (const uri of ['notes://first', 'upstream://nobody/x', 'upstream://notes'])
    expect(await read(uri)).toEqual({ kind: 'absent' })
  expect(await read('upstream://notes/notes://of/friday')).toMatchObject({
    kind: 'failed',
    error: { type: 'InvalidArguments', message: expect.stringContaining('no notes of friday') },
  })
})

test('an argument that the server wants in a header is written there, and no model is told of it', async () => {
  await add('notes')
  await autonomous('notes.*')
  const called = await kit.run('alpha', 'notes.of_region', { region: 'Zürich' })
  expect(called['content']).toMatchObject([{ text: 'notes of Zürich' }])
  const headers = notes.requests.map((request) => request.headers['mcp-param-region'])
  expect(headers).toContain('=?base64?WsO8cmljaA==?=')
  const shown = await kit.app.listCapabilities(kit.op('alpha'), { category: 'notes' })
  expect(JSON.stringify(shown)).not.toContain('x-mcp-header')
})

const info = { name: 'features-test', version: '1.0.0' }
const connect = {
  async legacy(url: URL, requestInit: RequestInit) {
    const client = new Client(info)
    await client.connect(new StreamableHTTPClientTransport(url, { requestInit }) as never)
    return client
  },
  async modern(url: URL, requestInit: RequestInit) {
    const client = new ModernClient(info, { versionNegotiation: { mode: 'auto' } })
    await client.connect(new ModernTransport(url, { requestInit }))
    return client
  },
}

const openGate = () =>
  openGateway({
    host: '127.0.0.1',
    port: 0,
    app: kit.app,
    ids: new CountedIds(),
    log: new KeptLog(),
    version: '0.0.0',
    allowedHosts: [],
    allowedOrigins: [],
  })

describe('arguments in headers', () => {
  const open = async () => {
    await add('notes')
    await autonomous('notes.*')
    const gateway = await openGate()
    return {
      gateway,
      peer: new ModernPeer(gateway, token),
      [Symbol.asyncDispose]: () => gateway.close(0),
    }
  }

  test('are asked of clients of 2026-07-28, but for secrets', async () => {
    await using opened = await open()
    const { result } = await opened.peer.request('tools/list')
    const { tools } = result as { readonly tools: readonly { name: string; inputSchema: object }[] }
    const tool = tools.find(({ name }) => name === 'notes__of_region')
    expect(tool?.inputSchema).toMatchObject({
      properties: { region: { 'x-mcp-header': 'Region' } },
    })
    expect(JSON.stringify(tools).match(/x-mcp-header/g)).toHaveLength(1)
    const headers = { Authorization: `Bearer ${token}` }
    const client = await connect.modern(new URL(`${opened.gateway.url}/mcp`), { headers })
    await client.listTools()
    const call = { name: 'notes__of_region', arguments: { region: 'Zürich', key: 'k' } }
    expect(await client.callTool(call)).toMatchObject({ content: [{ text: 'notes of Zürich' }] })
    await client.close()
  })

  test('can be too long for one: the call is refused, names the argument and asks nobody', async () => {
    await using opened = await open()
    await policy('match: notes.of_region, tier: approval_required')
    const before = notes.requests.length
    const call = (args: object, headers: Record<string, string>) =>
      opened.peer.request(
        'tools/call',
        { name: 'notes__of_region', arguments: args },
        undefined,
        headers,
      )
    const long = 'x'.repeat(20_000)
    for (const [name, answer] of [
      ['region', await call({ region: long }, {})],
      ['key', await call({ region: 'west', key: long }, { 'Mcp-Param-Region': 'west' })],
    ] as const)
      expect(answer).toMatchObject({
        result: {
          isError: true,
          content: [{ text: expect.stringMatching(`InvalidArguments.*${name}.*too long`) }],
        },
      })
    expect(notes.requests.length).toBe(before)
  })

  test('have to say what the body says: else the call is refused, and nothing runs', async () => {
    await using opened = await open()
    const call = (region: string | undefined) =>
      opened.peer.request(
        'tools/call',
        { name: 'notes__of_region', arguments: { region: 'west' } },
        undefined,
        region === undefined ? {} : { 'Mcp-Param-Region': region },
      )
    for (const said of [undefined, 'east', '=?base64?d2Vzd=?='])
      expect(await call(said)).toMatchObject({
        status: 400,
        error: { code: -32020, data: { mismatch: { header: 'Mcp-Param-Region' } } },
      })
    expect(await kit.audit({ capability: 'notes.of_region' })).toEqual([])
    expect(await call('=?base64?d2VzdA==?=')).toMatchObject({
      result: { content: [{ text: 'notes of west' }] },
    })
  })
})

describe.each(['legacy', 'modern'] as const)('clients of the %s era', (era) => {
  const open = async () => {
    const gateway = await openGate()
    const headers = { Authorization: `Bearer ${token}` }
    const client = await connect[era](new URL(`${gateway.url}/mcp`), { headers })
    return {
      client,
      async [Symbol.asyncDispose]() {
        await client.close()
        await gateway.close(0)
      },
    }
  }

  test('are told of nothing where there is nothing', async () => {
    await using opened = await open()
    const { prompts, resources, completions, logging } = opened.client.getServerCapabilities() ?? {}
    expect([prompts, resources, completions, logging]).toEqual(Array(4).fill(undefined))
  })

  test('use prompts, resources and completions', async () => {
    await add('notes')
    await autonomous('notes.*')
    await using opened = await open()
    const { client } = opened
    expect(client.getServerCapabilities()).toMatchObject({
      prompts: {},
      resources: {},
      completions: {},
    })
    expect((await client.listPrompts()).prompts.map(({ name }) => name)).toEqual(['notes__sum-up'])
    const args = { name: 'notes__sum-up', arguments: { note: 'the first' } }
    const prompt = await client.getPrompt(args)
    expect(prompt.messages).toMatchObject([{ content: { text: 'Sum up the first.' } }])
    const { resources } = await client.listResources()
    const uri = String(resources[0]?.uri)
    expect((await client.readResource({ uri })).contents).toMatchObject([
      { uri, text: 'Buy milk.' },
    ])
    const { resourceTemplates } = await client.listResourceTemplates()
    const ref = { type: 'ref/resource' as const, uri: String(resourceTemplates[0]?.uriTemplate) }
    const { completion } = await client.complete({ ref, argument: { name: 'day', value: 't' } })
    expect(completion.values).toEqual(['tuesday'])
  })

  test('are told by a code what went wrong', async () => {
    await add('notes')
    await policy(
      ...['list_prompts', 'list_resources', 'read_resource'].map(
        (action) => `match: notes.${action}, tier: autonomous`,
      ),
    )
    await using opened = await open()
    const { client } = opened
    const uri = 'upstream://notes/notes://of/friday'
    await expect(client.readResource({ uri })).rejects.toMatchObject({
      code: -32602,
      data: { uri },
    })
    await expect(client.getPrompt({ name: 'sum-up' })).rejects.toMatchObject({ code: -32602 })
    const waits = client.getPrompt({ name: 'notes__sum-up', arguments: { note: 'it' } })
    await expect(waits).rejects.toMatchObject({
      data: { status: 'pending_approval', capability: 'notes.get_prompt' },
    })
  })
})
