import { createIds } from '@gatehouse/server/platform/ids'
import { createKit, type Kit } from '@gatehouse/testkit'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createRegistry } from '../../src/capabilities/registry.ts'
import { standardCapabilities } from '../../src/capabilities/standard.ts'
import { type Gateway, openGateway } from '../../src/transport/gateway/open-gateway.ts'
import { type Schema, valueOf } from '../kit/json-of-schema.ts'
import type { Peer } from '../kit/mcp-peer.ts'
import { openPeer } from '../kit/speakers.ts'

/** Requests of each form; ten thousand in all with GATEHOUSE_FULL=1. */
const full = process.env['GATEHOUSE_FULL'] === '1'
const runs = full ? 3_400 : 60
const seed = full ? Date.now() : 20_261_125

const policy = `version: 1
rules:
  - { match: "*", tier: autonomous }
limits:
  - { match: "*", limit: 100000, window: 1m }
`

/** Those that wait for something to happen, which nothing does here. */
const waiting = new Set(['approvals.wait', 'comms.receive', 'shared.wait', 'client.wait'])
const capabilities = createRegistry(standardCapabilities)
  .list()
  .filter(({ name, waits }) => !waiting.has(name) && waits !== true)
const names = capabilities.map(({ name }) => name)

let kit: Kit
let gateway: Gateway
let peer: Peer
let token: string
const faults: string[] = []

beforeAll(async () => {
  kit = await createKit({ policy })
  token = await kit.agent('alpha')
  const quiet = () => undefined
  const note = (facts: object) => {
    const { err } = facts as { err?: unknown }
    faults.push(String(err instanceof Error ? err.stack : JSON.stringify(facts)))
  }
  gateway = await openGateway({
    ...{ host: '127.0.0.1', port: 0, app: kit.app, ids: createIds(), version: '9.9.9' },
    log: { debug: quiet, info: quiet, warn: quiet, error: note },
    ...{ allowedHosts: [], allowedOrigins: [] },
  })
  peer = await openPeer(gateway, token)
  await peer.request('initialize', {
    ...{ protocolVersion: '2025-06-18', capabilities: {} },
    clientInfo: { name: 'hostile', version: '1' },
  })
})
afterAll(async () => {
  peer.ws.terminate()
  await gateway.close(0)
  await kit[Symbol.asyncDispose]()
})

const texts = [
  ...['', '\0', '\r\n', '\u001b]0;x\u0007', '\u202e', '\u200b', '../'.repeat(20), '/etc/passwd'],
  ...['-rf', '--output=MARK', '$(touch MARK)', '`id`', ';id', '%0a', '%00', '{{7*7}}', '${7*7}'],
  ...['__proto__', 'constructor', 'toString', '0000-01-01T00:00:00Z', '9999-12-31T23:59:59Z'],
  ...['http://127.1', 'http://[::ffff:7f00:1]/', 'http://①②⑦.⓪.⓪.①', 'file:///etc/passwd'],
  ...['*(*(*(a)))b', '[', '{1..1000000}', '**/'.repeat(50), 'x'.repeat(300_000), "a'; DROP TABLE"],
]
const values: readonly unknown[] = [
  ...[null, true, -0, 1e21, 2 ** 53 - 1, -1, 0.5, [], {}, [[]], { a: { b: {} } }],
  ...[Array.from({ length: 2_000 }, (_, i) => i), { constructor: { prototype: { x: 1 } } }],
]
const hostile = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom<unknown>(...texts) },
  { weight: 2, arbitrary: fc.constantFrom<unknown>(...values) },
  fc.string({ unit: 'binary', maxLength: 30 }).map((text) => text.toWellFormed()),
  fc.jsonValue({ maxDepth: 4 }),
)

/** Arguments that fit, of which some are hostile, one may be missing and one too many. */
const argumentsOf = (schema: Schema): fc.Arbitrary<unknown> => {
  const members = Object.keys(schema.properties ?? {})
  const changes = members.length > 0 ? fc.dictionary(fc.constantFrom(...members), hostile) : hostile
  return fc.oneof(
    {
      weight: 6,
      arbitrary: fc
        .tuple(valueOf(schema, {}), changes)
        .map(([fits, changed]) => ({ ...(fits as object), ...(changed as object) })),
    },
    hostile,
  )
}

const calls = fc
  .constantFrom(...capabilities)
  .chain(({ name, input_schema }) =>
    argumentsOf(input_schema as Schema).map((args) => ({ name, args })),
  )

/** Text that is no JSON, or JSON that is no call. */
const bodies = fc.oneof(
  hostile.map((value) => JSON.stringify(value)),
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc
    .record({
      jsonrpc: fc.oneof(fc.constant('2.0'), hostile),
      id: fc.oneof(fc.constant(1), hostile),
      method: fc.oneof(
        fc.constantFrom('capabilities.invoke', 'capabilities.list', 'tools/call', 'tools/list'),
        hostile,
      ),
      params: fc.oneof(
        hostile,
        fc.record({ capability: fc.oneof(fc.constantFrom(...names), hostile), arguments: hostile }),
      ),
    })
    .map((value) => JSON.stringify(value)),
)

/** What no answer may hold, and that an unforeseen failure is one of ours. */
const assertSafe = (about: string, text: string): void => {
  expect(faults.join('\n'), about).toBe('')
  expect(text, about).not.toMatch(/\bat \S+ \(|\.[jt]s:\d+:\d+|node:internal|SQLITE_/)
  expect(text, about).not.toContain('InternalError')
}

type Posted = { readonly status: number; readonly text: string; readonly about: string }

const post = async (
  path: string,
  body: string,
  more: Record<string, string> = {},
): Promise<Posted> => {
  faults.length = 0
  const response = await fetch(`${gateway.url}${path}`, {
    ...{ method: 'POST', body },
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json', ...more },
  })
  const text = await response.text()
  // A machine that is too busy for its event loop sheds calls, and says so.
  if (response.status === 503 && text.includes('"reason":"overloaded"'))
    return post(path, body, more)
  const about = `${path} ${body.slice(0, 400)} -> ${response.status} ${text.slice(0, 400)}`
  if (response.status >= 500) expect(text, about).toMatch(/"type":"\w+Unavailable"/)
  assertSafe(about, text)
  return { status: response.status, text, about }
}

const check = <T>(inputs: fc.Arbitrary<T>, attempt: (input: T) => Promise<void>): Promise<void> =>
  fc.assert(fc.asyncProperty(inputs, attempt), { numRuns: runs, seed, endOnFailure: true })

const mcp = { Accept: 'application/json, text/event-stream' }
const minutes = 60_000 * (full ? 30 : 2)

test(
  'every call of /rpc is answered, and no failure is unforeseen or shows its inside',
  async () => {
    await check(calls, async ({ name, args }) => {
      const params = { capability: name, arguments: args }
      const body = JSON.stringify({
        jsonrpc: '2.0',
        id: 'x',
        method: 'capabilities.invoke',
        params,
      })
      const { text, about } = await post('/rpc', body)
      expect(JSON.parse(text), about).toMatchObject({ jsonrpc: '2.0', id: 'x' })
    })
  },
  minutes,
)

test(
  'so is every call over MCP, on a socket that stays open',
  async () => {
    await check(calls, async ({ name, args }) => {
      faults.length = 0
      const answer = await peer.call(name.replace('.', '__'), args)
      expect(peer.closed, JSON.stringify({ name, args }).slice(0, 400)).toBe(null)
      assertSafe(JSON.stringify({ name, args }).slice(0, 400), JSON.stringify(answer))
      peer.messages.length = 0
    })
  },
  minutes,
)

test.each([
  ['/rpc', {}],
  ['/mcp', mcp],
])(
  'whatever else is sent to %s is refused in order',
  async (path, headers) => {
    await check(bodies, async (body) => {
      const { status, about } = await post(path, body, headers)
      expect(status, about).toBeLessThan(500)
    })
  },
  minutes,
)

test('an honest call works as before, and the log verifies', async () => {
  const data = { path: 'after.txt', content: 'written' }
  expect(await kit.run('alpha', 'filesystem.write', data)).toMatchObject({ created: true })
  const read = await peer.call('filesystem__read', { path: 'after.txt' })
  expect(JSON.stringify(read.result)).toContain('written')
  const { entries, integrity } = await kit.app.queryAudit(kit.operator(), { limit: 1, offset: 0 })
  expect([integrity, entries.length]).toEqual(['verified', 1])
})
