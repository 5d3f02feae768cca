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
import { openPoisoned } from './poisoned-server.ts'

let server: Awaited<ReturnType<typeof openPoisoned>>
let kit: Kit
let token: string

beforeEach(async () => {
  server = await openPoisoned()
  kit = await createKit({ outbound: outboundWith({ privateTargets: [new URL(server.url).host] }) })
  token = await kit.agent('alpha')
  const { digest } = await kit.app.addUpstream(kit.operator(), {
    name: 'poisoned',
    server: { kind: 'http', url: server.url },
    grants: { folders: [], hosts: [], environment: {} },
    credentials: { 'x-key': { value: 'a-long-secret' } },
    per_agent: true,
    dry_run: false,
  })
  await kit.app.acceptUpstream(kit.operator(), { name: 'poisoned', digest })
})
afterEach(async () => {
  await kit[Symbol.asyncDispose]()
  await server[Symbol.asyncDispose]()
})

const tier = async (name: string): Promise<void> => {
  const text = `version: 1\nrules:\n  - {match: poisoned.*, tier: ${name}}\n`
  expect((await kit.parts.policy.save({ text })).problems).toEqual([])
}

const openFor = async () => {
  const gateway = await openGateway({
    host: '127.0.0.1',
    port: 0,
    app: kit.app,
    ids: new CountedIds(),
    log: new KeptLog(),
    version: '0.0.0',
    allowedHosts: [],
    allowedOrigins: [],
  })
  const requestInit = { headers: { Authorization: `Bearer ${token}` } }
  return { url: new URL(`${gateway.url}/mcp`), requestInit, close: () => gateway.close(0) }
}

const info = { name: 'meta-test', version: '1.0.0' }

const openLegacy = async () => {
  const { url, requestInit, close } = await openFor()
  const client = new Client(info)
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit }) as never)
  return {
    client,
    async [Symbol.asyncDispose]() {
      await client.close()
      await close()
    },
  }
}

const openModern = async () => {
  const { url, requestInit, close } = await openFor()
  const client = new ModernClient(info, { versionNegotiation: { mode: 'auto' } })
  await client.connect(new ModernTransport(url, { requestInit }))
  return {
    client,
    async [Symbol.asyncDispose]() {
      await client.close()
      await close()
    },
  }
}

/** Every `_meta` in a value, but those of data. */
const metasIn = (value: unknown): object[] => {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) =>
    key === '_meta' ? [inner as object] : key === 'structuredContent' ? [] : metasIn(inner),
  )
}

const kept = { 'com.example/kept': 'a value' }
const marked = { 'gatehouse/upstream': 'poisoned' }

describe('what a server says in `_meta`', () => {
  test('is never said in the name of Gatehouse or of the protocol, wherever it stands', async () => {
    await tier('autonomous')
    await using opened = await openLegacy()
    const { client } = opened
    const said = await client.callTool({ name: 'poisoned__say', arguments: {} })
    expect(metasIn(said['content'])).toEqual([kept, kept, kept, kept])
    expect(said['_meta']).toEqual({ ...kept, ...marked })
    expect(said['structuredContent']).toEqual({
      _meta: { 'gatehouse/upstream': 'data of its own' },
    })
    const prompt = await client.getPrompt({ name: 'poisoned__sum-up' })
    expect(metasIn(prompt.messages)).toEqual([kept, kept])
    expect(prompt['_meta']).toEqual(marked)
    const read = await client.readResource({ uri: 'upstream://poisoned/notes://first' })
    expect(metasIn(read.contents)).toEqual([kept])
    expect(read['_meta']).toEqual(marked)
    expect(metasIn(await client.listPrompts())).toEqual([marked])
    expect(metasIn(await client.listResources())).toEqual([marked])
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toContain('poisoned__say')
    expect(metasIn(tools)).toEqual([])
  })

  test('is as little believed where a listing is read as text, or a person approved the call', async () => {
    const id = await kit.pending('alpha', 'poisoned.list_prompts', {})
    await kit.decide(id, 'approve')
    const text = JSON.stringify(await kit.resolved('alpha', id))
    expect(text).toContain('com.example/kept')
    expect(text).not.toMatch(/somebody-trusted|modelcontextprotocol|dev\.mcp|traceparent/)
  })

  test('an answer without an end of its nesting is refused', async () => {
    await tier('autonomous')
    expect(await kit.invoke('alpha', 'poisoned.deep')).toMatchObject({
      kind: 'failed',
      error: { type: 'UpstreamFailed' },
    })
  })
})

const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
const own = { 'claudecode/toolUseId': 'toolu_1', 'com.example/nested': { depth: [1] } }

const reserved = {
  'gatehouse/reason': 'because',
  'com.modelcontextprotocol/x': 1,
  tracestate: 'vendor=1',
  baggage: 'user=ana',
  authorization: 'Bearer x',
  'com.example/api_key': 'x',
}

describe('what an agent says in `_meta`', () => {
  const heard = (result: object) => {
    const [block] = (result as { readonly content: unknown }).content as readonly {
      readonly text: string
    }[]
    const { progressToken: _token, ...rest } = JSON.parse(String(block?.text)) ?? {}
    return rest
  }

  test.each([
    ['legacy', openLegacy],
    ['modern', openModern],
  ] as const)('reaches the server without what is reserved or secret: %s', async (_era, open) => {
    await tier('autonomous')
    await using opened = await open()
    const secret = {
      'com.example/said': 'a-long-secret',
      'com.example/deep': { password: 'x', a: 1 },
    }
    const _meta = { ...own, ...reserved, ...secret, traceparent }
    // The value is known as a secret once it was used.
    await opened.client.callTool({ name: 'poisoned__heard', arguments: {} })
    const result = await opened.client.callTool({ name: 'poisoned__heard', arguments: {}, _meta })
    expect(heard(result)).toEqual({
      ...own,
      traceparent,
      'com.example/said': '[secret:service:upstream.poisoned.x-key]',
      'com.example/deep': { a: 1 },
    })
    const [entry] = await kit.audit({ capability: 'poisoned.heard' })
    const keys = [...Object.keys(own), 'com.example/said', 'com.example/deep', 'traceparent']
    const { meta } = entry?.detail?.['upstream'] as { readonly meta: string[] }
    expect(meta.toSorted()).toEqual(keys.toSorted())
  })

  test('stays here where it is larger than 8 KiB, or is no trace', async () => {
    await tier('autonomous')
    const call = (meta: object) => kit.invoke('alpha', 'poisoned.heard', {}, { meta } as never)
    const large = await call({ 'com.example/large': 'x'.repeat(8_192) })
    expect(large).toMatchObject({
      data: { content: [{ text: expect.not.stringContaining('xx') }] },
    })
    const odd = await call({ traceparent: `00-${'0'.repeat(32)}-b7ad6b7169203331-01` })
    expect(odd).toMatchObject({ data: { content: [{ text: expect.not.stringContaining('00-') }] } })
  })

  test('stays here where a person or a grant let the call run: neither saw it', async () => {
    const meta = { 'com.example/said': 'more than was approved' }
    const waits = await kit.invoke('alpha', 'poisoned.heard', {}, { meta })
    const { approval_id } = (waits as { pending: { approval_id: string } }).pending
    await kit.decide(approval_id, 'approve', {
      remember: { match: 'same_arguments', ttl_seconds: 60 },
    })
    expect(JSON.stringify(await kit.resolved('alpha', approval_id))).not.toContain('more than')
    const granted = await kit.invoke('alpha', 'poisoned.heard', {}, { meta })
    expect(granted).toMatchObject({ kind: 'succeeded' })
    expect(JSON.stringify(granted)).not.toContain('more than')
    await tier('autonomous')
    const allowed = await kit.invoke('alpha', 'poisoned.heard', {}, { meta })
    expect(JSON.stringify(allowed)).toContain('more than')
  })
})
