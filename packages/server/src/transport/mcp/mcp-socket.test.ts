import { until } from '@gatehouse/testkit/until'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { type GatewayKit, openKit, tokens } from '../../../test/kit/gateway-kit.ts'
import { Peer } from '../../../test/kit/mcp-peer.ts'

let kit: GatewayKit
beforeEach(async () => {
  kit = await openKit()
})
afterEach(() => kit.close(0))

/** Sweeps find what else would be told, and calls that have run for long. */
const withoutSweeps = async (): Promise<void> => {
  await kit.close(0)
  kit = await openKit({ limits: { sweepEveryMs: 600_000 } })
}

type Options = { headers?: Record<string, string>; query?: string; protocols?: string[] }

const opening = ({ headers, query = '', protocols = [] }: Options = {}) =>
  new WebSocket(`${kit.mcpUrl}${query}`, protocols, {
    headers: headers ?? { Authorization: `Bearer ${tokens.alpha}` },
  })

const open = async (options?: Options): Promise<Peer> => {
  const peer = new Peer(opening(options))
  await new Promise((resolve, reject) => {
    peer.ws.once('open', resolve)
    peer.ws.once('error', reject)
  })
  return peer
}

test('answers of every length arrive whole, and in bytes as long as they say', async () => {
  const peer = await open()
  const lengths: number[] = []
  peer.ws.on('message', (data: Buffer) => lengths.push(data.length))
  // The header of a frame grows at 126 and at 65,536 bytes.
  const ids = Array.from({ length: 130 }, (_, i) => 'i'.repeat(i + 1))
  for (const id of ids) peer.send({ jsonrpc: '2.0', id, method: 'ping' })
  await until(() => peer.messages.length === ids.length)
  expect(peer.messages.map(({ id }) => id)).toEqual(ids)
  expect(lengths).toContain(125)
  expect(lengths).toContain(126)

  const { result } = await peer.call('test__echo', { text: 'ü' })
  const around = 65_536 - (lengths.at(-1) ?? 0)
  const text = `${'x'.repeat(Math.floor((around - 20) / 2))}ü`
  for (const id of ids.slice(0, 60)) {
    const params = { name: 'test__echo', arguments: { text } }
    peer.send({ jsonrpc: '2.0', id: `${id}.`, method: 'tools/call', params })
    const answer = await peer.answerTo(`${id}.`)
    expect(answer.result?.['structuredContent']).toEqual({ text })
  }
  expect(result?.['structuredContent']).toEqual({ text: 'ü' })
  expect(lengths).toContain(65_535)
  expect(lengths).toContain(65_536)
})

describe('the end of a connection', () => {
  test('a revoked agent is cut off at its next message, and by an event at once', async () => {
    await withoutSweeps()
    const byMessage = await open()
    const byEvent = await open()
    void byEvent.call('test__wait')
    await until(() => kit.waiting.length === 1)
    await kit.revokeElsewhere('alpha')
    const params = { name: 'test__echo', arguments: { text: 'x' } }
    byMessage.send({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })
    expect((await byMessage.end()).code).toBe(4401)
    expect(byEvent.closed).toBe(null)
    kit.emit('alpha', 'agent.revoked')
    expect((await byEvent.end()).code).toBe(4401)
    expect(kit.waiting[0]?.signal.aborted).toBe(true)
    expect(kit.ran).toHaveLength(1)
  })

  test('a silent connection of a revoked agent is found within a sweep', async () => {
    await kit.close(0)
    kit = await openKit({ limits: { sweepEveryMs: 10 } })
    const peer = await open()
    const other = await open({ headers: { Authorization: `Bearer ${tokens.beta}` } })
    await kit.revokeElsewhere('alpha')
    expect((await peer.end()).code).toBe(4401)
    expect((await other.request('ping')).result).toEqual({})
  })

  test('with a revoked agent all its connections end, and of what waits for its turn nothing runs later', async () => {
    const [sockets, each] = process.env['GATEHOUSE_FULL'] === '1' ? [100, 6] : [20, 5]
    const peers = await Promise.all(Array.from({ length: sockets }, () => open()))
    const other = await open({ headers: { Authorization: `Bearer ${tokens.beta}` } })
    for (const peer of peers) for (let i = 0; i < each; i++) void peer.call('test__wait')
    await until(() => kit.waiting.length === 64)
    await kit.revoke('alpha')
    const ends = await Promise.all(peers.map((peer) => peer.end()))
    expect(new Set(ends.map(({ code }) => code))).toEqual(new Set([4401]))
    // Places become free, and nobody may take them.
    for (const call of [...kit.waiting]) call.finish()
    expect((await other.call('test__echo', { text: 'x' })).result).toMatchObject({
      structuredContent: { text: 'x' },
    })
    expect(kit.ran.filter(({ agent }) => agent === 'alpha')).toHaveLength(64)
  })

  test('calls in line when their agent is paused do not begin, and its connection stays', async () => {
    const peers = [await open(), await open(), await open()]
    const answers = peers.flatMap((peer) =>
      Array.from({ length: 25 }, () => peer.call('test__wait')),
    )
    await until(() => kit.waiting.length === 64)
    await kit.kit.app.pauseAgent(kit.kit.operator(), { name: 'alpha' })
    for (const call of [...kit.waiting]) call.finish()
    const ended = await Promise.all(answers)
    expect(ended.filter(({ result }) => result?.['isError'] !== true && result)).toHaveLength(64)
    expect(kit.ran).toHaveLength(64)
    expect((await peers[0]?.request('ping'))?.result).toEqual({})
  })

  test('a peer that does not answer pings is given up, one that does is kept', async () => {
    await kit.close(0)
    kit = await openKit({ limits: { sweepEveryMs: 20, pingEveryMs: 40, deadAfterMs: 1_500 } })
    const dead = new Peer(
      new WebSocket(kit.mcpUrl, {
        headers: { Authorization: `Bearer ${tokens.alpha}` },
        autoPong: false,
      }),
    )
    const alive = await open()
    expect((await dead.end()).code).toBe(1006)
    const pings = alive.pings
    await until(() => alive.pings > pings + 8)
    expect(alive.closed).toBe(null)
  })

  test('32 calls run at once, the others wait their turn and all are answered', async () => {
    await withoutSweeps()
    const peer = await open()
    const answers = Array.from({ length: 80 }, () => peer.call('test__wait'))
    await until(() => kit.waiting.length === 32)
    await new Promise((resolve) => setImmediate(resolve))
    expect(kit.waiting).toHaveLength(32)
    let finished = 0
    await until(() => {
      const next = kit.waiting[finished]
      if (next) {
        expect(kit.waiting.length - finished).toBeLessThanOrEqual(32)
        next.finish()
        finished++
      }
      return finished === 80
    })
    expect(await Promise.all(answers)).toHaveLength(80)
  })

  test('a peer that does not read is closed with 1013, and little is kept for it', async () => {
    await kit.close(0)
    kit = await openKit({
      limits: { sweepEveryMs: 10, outboundStallMs: 100, outboundPauseBytes: 200_000 },
    })
    const peer = await open()
    peer.ws.pause()
    const text = 'x'.repeat(500_000)
    for (let i = 0; i < 40; i++) {
      peer.send({
        jsonrpc: '2.0',
        id: i,
        method: 'tools/call',
        params: { name: 'test__echo', arguments: { text } },
      })
    }
    await until(() => kit.log.lines.some((line) => line.includes('does not read')))
    expect(kit.ran.length).toBeLessThan(40)
    peer.ws.resume()
    expect((await peer.end()).code).toBe(1013)
  })

  test('at the end of the service a call is answered, then the socket is told', async () => {
    const peer = await open()
    const idle = await open()
    const answer = peer.call('test__wait')
    await until(() => kit.waiting.length === 1)
    const closing = kit.close(60_000)
    expect((await idle.end()).code).toBe(1001)
    expect(peer.closed).toBe(null)
    kit.waiting[0]?.finish('at the end')
    expect((await answer).result?.['structuredContent']).toEqual({ text: 'at the end' })
    expect((await peer.end()).code).toBe(1001)
    await closing
    expect(kit.connections()).toBe(0)
  })

  test('a peer that asks for much at once and reads it all gets it all', async () => {
    const limits = { outboundPauseBytes: 100_000, outboundCloseBytes: 400_000 }
    await kit.close(0)
    kit = await openKit({ limits })
    const peer = await open()
    const data = { text: 'x'.repeat(100_000) }
    const answers = Array.from({ length: 40 }, () => peer.call('test__echo', data))
    for (const { result } of await Promise.all(answers)) {
      expect(result?.['structuredContent']).toEqual(data)
    }
    expect(peer.closed).toBe(null)
  })
})
