import type { Kit } from '@gatehouse/testkit'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Gateway } from '../../src/transport/gateway/open-gateway.ts'
import { type Appends, line, openAppends } from '../kit/appends.ts'
import type { Message } from '../kit/mcp-peer.ts'
import { ModernPeer } from '../kit/modern-peer.ts'
import { openHttpSession, openPeer, rpcRequest } from '../kit/speakers.ts'

// An agent may say why it makes a call. People see it; the call, its digest and policy do not change with it.

const secret = 'S3cret-value-of-a-token'

let appends: Appends
let kit: Kit
let gateway: Gateway
beforeEach(async () => {
  // Stands for the value of a secret that was used before.
  const scrub = <T>(value: T): T =>
    typeof value === 'string' ? (value.replaceAll(secret, '[secret:token]') as T) : value
  appends = await openAppends('pending', {
    ports: (name, port) =>
      name === 'secrets'
        ? (Object.assign(Object.create(port) as object, { scrub }) as typeof port)
        : port,
  })
  kit = appends.kit
  gateway = await appends.open()
})
afterEach(async () => {
  await gateway.close(0)
  await kit[Symbol.asyncDispose]()
})

type Say = (capability: string, args: object, reason: unknown) => Promise<Message>

const toolOf = (capability: string) => capability.replace('.', '__')
const metaOf = (reason: unknown) => ({ 'gatehouse/reason': reason })

const ways: readonly (readonly [string, Say])[] = [
  [
    'JSON-RPC',
    (capability, args, reason) => {
      const params = { capability, arguments: args, reason }
      return rpcRequest(gateway, appends.token, 'capabilities.invoke', params)
    },
  ],
  [
    'MCP over WebSocket',
    async (capability, args, reason) => {
      const peer = await openPeer(gateway, appends.token)
      const answer = await peer.call(toolOf(capability), args, metaOf(reason))
      peer.ws.close()
      return answer
    },
  ],
  [
    'MCP over Streamable HTTP',
    async (capability, args, reason) => {
      const { post } = await openHttpSession(gateway, appends.token)
      const params = { name: toolOf(capability), arguments: args, _meta: metaOf(reason) }
      return (await (await post({ id: 1, method: 'tools/call', params })).json()) as Message
    },
  ],
  [
    'MCP of the modern era',
    (capability, args, reason) =>
      new ModernPeer(gateway, appends.token).call(toolOf(capability), args, {
        _meta: metaOf(reason),
      }),
  ],
]

const newest = async (capability: string) => (await kit.audit({ capability }))[0]
const asked = async () => {
  const filter = { status: 'pending', limit: 10, offset: 0 } as const
  return (await kit.storage.approvals.list(filter)).approvals
}

test.each(ways)('%s: it is in the audit entry of the call', async (_name, say) => {
  await say('filesystem.stat', { path: line.path }, 'To see how long it is')
  expect((await newest('filesystem.stat'))?.detail).toEqual({
    agent_reason: 'To see how long it is',
  })
  await say('filesystem.stat', { path: line.path }, '')
  expect((await newest('filesystem.stat'))?.detail).toBe(null)
})

test.each(ways)(
  '%s: people see it with the request, and nothing is bound to it',
  async (_n, say) => {
    await say('filesystem.append', line, 'The tests passed')
    const [stored] = await asked()
    expect(stored?.agent_reason).toBe('The tests passed')
    expect(JSON.stringify([stored?.bound_json, stored?.arguments_json])).not.toContain('passed')
    const shown = await kit.app.showApproval(kit.operator(), { approval_id: stored?.id ?? '' })
    expect(shown).toMatchObject({ agent_reason: 'The tests passed', arguments: line })
    expect((await newest('filesystem.append'))?.detail).toEqual({
      agent_reason: 'The tests passed',
    })
    // The same call for another reason is the same call.
    await say('filesystem.append', line, 'Another reason')
    expect((await asked()).map(({ id, agent_reason }) => [id, agent_reason])).toEqual([
      [stored?.id, 'The tests passed'],
    ])
    await appends.approve(stored?.id ?? '')
    expect(appends.content()).toBe('one\n')
  },
)

test.each(ways)('%s: one that is too long or no text is refused by name', async (_name, say) => {
  for (const reason of ['x'.repeat(501), 7, null, { text: 'why' }]) {
    const { error, result } = await say('filesystem.append', line, reason)
    expect([reason, result, error?.code]).toEqual([reason, undefined, -32602])
    expect(error?.message).toContain('reason')
  }
  expect(await asked()).toEqual([])
  await say('filesystem.append', line, 'x'.repeat(500))
  expect(await asked()).toHaveLength(1)
})

test.each(ways)('%s: half a character is refused, not stored', async (_name, say) => {
  const { error } = await say('filesystem.append', line, 'a\ud800b')
  expect(error?.code).toBe(-32600)
  expect(await asked()).toEqual([])
})

test('a secret that an agent writes into it is stored nowhere', async () => {
  const [, say] = ways[0] ?? []
  await say?.('filesystem.append', line, `because ${secret}`)
  const [stored] = await asked()
  expect(stored?.agent_reason).toBe('because [secret:token]')
})

test('policy does not see it', async () => {
  const [, say] = ways[1] ?? []
  const outcomes = await Promise.all(
    ['', 'please allow this', 'tier: autonomous'].map((reason) =>
      say?.('filesystem.append', line, reason),
    ),
  )
  for (const outcome of outcomes)
    expect(outcome?.result).toMatchObject({ structuredContent: { status: 'pending_approval' } })
})
