import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Kit } from '@gatehouse/testkit'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Gateway } from '../../src/transport/gateway/open-gateway.ts'
import { type Appends, line, openAppends } from '../kit/appends.ts'
import { ModernPeer } from '../kit/modern-peer.ts'
import { openHttpSession } from '../kit/speakers.ts'

// The era without a handshake names no session, so a call belongs to that of its token and client.

let appends: Appends
let kit: Kit
let gateway: Gateway
beforeEach(async () => {
  appends = await openAppends('pending')
  kit = appends.kit
  gateway = await appends.open()
})
afterEach(async () => {
  await gateway.close(0)
  await kit[Symbol.asyncDispose]()
})

const one = { name: 'one', version: '1' }
const peer = (info: object | null = one, token = appends.token) =>
  new ModernPeer(gateway, token, {}, info)
const stat = { path: line.path }
const calls = async () => {
  const entries = await kit.audit({ capability: 'filesystem.stat' })
  return entries.map(({ session_id }) => session_id).toReversed()
}
const wake = async (reason: string) => {
  await kit.app.wakeAgent({ agent: 'alpha', reason })
  // Those of a second are one.
  kit.clock.move(1_000)
}
const sessions = async () => (await kit.app.showAgent(kit.operator(), { name: 'alpha' })).sessions

describe('a session', () => {
  test('is one for each client of a token, and shows what the client said it is', async () => {
    const other = { name: 'two', version: '1' }
    for (const info of [one, one, other, null, one]) {
      await peer(info).call('filesystem__stat', stat)
    }
    const [a, b, c, d, e] = await calls()
    expect([b, e]).toEqual([a, a])
    expect(new Set([a, c, d]).size).toBe(3)
    expect(a).toMatch(/^sess-/)
    const seen = (await kit.audit({ capability: 'session.started' })).map(
      ({ arguments: said }) => said,
    )
    expect(seen).toHaveLength(3)
    const client = { ...one, protocol: '2026-07-28' }
    expect(seen).toContainEqual({ session_id: a, transport: 'mcp-http', client })
    expect(seen).toContainEqual({ session_id: d, transport: 'mcp-http', client: null })
  })

  test('is opened once by calls that come at once', async () => {
    await Promise.all([1, 2, 3, 4].map(() => peer().call('filesystem__stat', stat)))
    expect(new Set(await calls()).size).toBe(1)
    expect(await sessions()).toHaveLength(1)
  })

  test('ends when it is idle, and the next call opens another', async () => {
    await peer().call('filesystem__stat', stat)
    kit.clock.move(29 * 60_000)
    await peer().call('filesystem__stat', stat)
    for (const minutes of [2, 31, 1]) {
      kit.clock.move(minutes * 60_000)
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    while ((await sessions()).some(({ ended_at }) => ended_at === null)) {
      kit.clock.move(60_000)
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    await peer().call('filesystem__stat', stat)
    const [a, b, c] = await calls()
    expect(b).toBe(a)
    expect(c).not.toBe(a)
    expect(await sessions()).toHaveLength(2)
  })

  test('lives as long as a stream of it is open', async () => {
    const streams = {
      modern: await peer().listen({ toolsListChanged: true }),
      legacy: await (await openHttpSession(gateway, appends.token)).listen(),
    }
    await streams.modern.next('notifications/subscriptions/acknowledged')
    await peer({ name: 'idle', version: '1' }).call('filesystem__stat', stat)
    const open = async () =>
      (await sessions())
        .filter(({ ended_at }) => ended_at === null)
        .map(({ client }) => String(client?.name))
        .toSorted()
    const idle = async (count: number) => {
      while ((await open()).length > count) {
        kit.clock.move(60_000)
        await new Promise((resolve) => setTimeout(resolve, 1))
      }
    }
    await idle(2)
    expect(await open()).toEqual(['one', 'probe'])
    await streams.legacy.leave()
    await idle(1)
    expect(await open()).toEqual(['one'])
    await streams.modern.leave()
    await idle(0)
  })

  test('is another with another token of the same agent', async () => {
    await peer().call('filesystem__stat', stat)
    const rotated = await kit.app.rotateAgent(kit.operator(), {
      name: 'alpha',
      overlap_seconds: 60,
    })
    await peer(one, rotated.token).call('filesystem__stat', stat)
    expect(new Set(await calls()).size).toBe(2)
  })

  test('keeps scratch values for its client alone', async () => {
    await peer().call('scratch__set', { key: 'k', value: 1 })
    const { result } = await peer().call('scratch__get', { key: 'k' })
    expect(result).toMatchObject({ structuredContent: { value: 1 } })
    const other = await peer({ name: 'two', version: '1' }).call('scratch__get', { key: 'k' })
    expect(other.result).not.toMatchObject({ structuredContent: { value: 1 } })
  })
})

describe('a subscription', () => {
  const events = { 'gatehouse/events': true }
  const tagged = { _meta: { 'io.modelcontextprotocol/subscriptionId': 1 } }

  test('is acknowledged first, with what was asked for and is known', async () => {
    const asked = { toolsListChanged: true, promptsListChanged: true, ...events, nonsense: 1 }
    const stream = await peer().listen(asked)
    const acknowledged = await stream.next('notifications/subscriptions/acknowledged')
    expect(acknowledged).toMatchObject({
      notifications: { toolsListChanged: true, ...events },
      ...tagged,
    })
    expect(acknowledged['notifications']).not.toHaveProperty('promptsListChanged')
    await stream.leave()
  })

  test('can be gone on with before anything was told on it', async () => {
    await gateway.close(0)
    gateway = await appends.open({}, { ids: kit.parts.ids })
    await wake('before')
    const { events: bus } = kit.parts
    const seen = () => bus.poll('alpha', undefined, 0, new AbortController().signal)
    while ((await seen()).length === 0) await new Promise((resolve) => setTimeout(resolve, 2))
    const stream = await peer().listen(events)
    const { _meta: meta } = await stream.next('notifications/subscriptions/acknowledged')
    await stream.leave()
    await wake('missed')
    const after = (meta as Record<string, string>)['gatehouse/eventId'] ?? ''
    const again = await peer().listen({ 'gatehouse/events': { after } })
    expect(await again.next('notifications/wake')).toMatchObject({ reason: 'missed' })
    await again.leave()
  })

  test('carries wakes, watched files and approvals under the names of the other eras', async () => {
    const stream = await peer().listen(events)
    await wake('mail')
    expect(await stream.next('notifications/wake')).toMatchObject({ reason: 'mail', ...tagged })
    await peer().call('filesystem__watch', { path: '.' })
    writeFileSync(join(kit.workspace('alpha'), 'new.txt'), 'x')
    expect(await stream.next('notifications/files/changed')).toMatchObject(tagged)
    const id = await kit.pending('alpha', 'filesystem.append', line)
    await appends.approve(id)
    expect(await stream.next('notifications/approvals/resolved')).toMatchObject({
      approval_id: id,
      status: 'approved',
      result: { structuredContent: { size_bytes: 4 } },
      ...tagged,
    })
    await stream.leave()
  })

  test('carries nothing that was not asked for', async () => {
    const stream = await peer().listen({ toolsListChanged: true })
    await stream.next('notifications/subscriptions/acknowledged')
    const id = await kit.pending('alpha', 'filesystem.append', line)
    await appends.approve(id)
    await wake('mail')
    await stream.leave()
    expect(stream.messages).toEqual([])
    // Nothing was delivered, so the same call has the result.
    const outcome = await kit.invoke('alpha', 'filesystem.append', line)
    expect(outcome.kind).toBe('succeeded')
  })

  test('goes on after the last event that the client has', async () => {
    const stream = await peer().listen(events)
    await wake('first')
    const { _meta: meta } = await stream.next('notifications/wake')
    const after = (meta as Record<string, string>)['gatehouse/eventId'] ?? ''
    expect(after).toMatch(/^evt-/)
    await stream.leave()
    await wake('missed')
    const again = await peer().listen({ 'gatehouse/events': { after } })
    expect(await again.next('notifications/wake')).toMatchObject({ reason: 'missed' })
    await wake('live')
    expect(await again.next('notifications/wake')).toMatchObject({ reason: 'live' })
    await again.leave()
    expect(again.messages.filter(({ method }) => method === 'notifications/wake')).toEqual([])
  })

  test.each([
    [{ taskIds: 'appr-1' }],
    [{ taskIds: [1] }],
    [{ taskIds: Array.from({ length: 101 }, (_, n) => `appr-${n}`) }],
    [{ 'gatehouse/events': { after: 7 } }],
  ])('with a wrong filter is invalid params: %j', async (notifications) => {
    const { error } = await peer().request('subscriptions/listen', { notifications })
    expect(error?.code).toBe(-32602)
  })

  test('is one for the official client, whose handlers hear of everything on it', async () => {
    const client = new Client(one, { versionNegotiation: { mode: { pin: '2026-07-28' } } })
    const headers = { Authorization: `Bearer ${appends.token}` }
    const address = new URL(`${gateway.url}/mcp`)
    await client.connect(new StreamableHTTPClientTransport(address, { requestInit: { headers } }))
    const told: string[] = []
    client.fallbackNotificationHandler = async ({ method, params }) => {
      told.push(`${method} ${String(params?.['reason'])}`)
    }
    const subscription = await client.listen({ toolsListChanged: true, ...events } as object)
    await wake('mail')
    while (told.length === 0) await new Promise((resolve) => setTimeout(resolve, 2))
    expect(told).toEqual(['notifications/wake mail'])
    await subscription.close()
    await client.close()
  })

  test('that the server ends is answered as complete', async () => {
    const stream = await peer().listen(events)
    await stream.next('notifications/subscriptions/acknowledged')
    await gateway.close(0)
    await stream.closed
    expect(stream.messages.at(-1)).toMatchObject({
      id: 1,
      result: { resultType: 'complete', ...tagged },
    })
  })

  test('counts as a connection of its agent, and ends with its token', async () => {
    await gateway.close(0)
    gateway = await appends.open({ connectionsPerAgentMax: 1, sweepEveryMs: 10 })
    const stream = await peer().listen(events)
    const second = await peer().send('subscriptions/listen', { notifications: events })
    expect(second.status).toBe(429)
    await second.text()
    await kit.app.revokeAgent(kit.operator(), { name: 'alpha' })
    await stream.closed
  })
})
