import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { leavingPeer } from '../../test/kit/leaving-peer.ts'
import { openRequest } from './open-request.ts'

const agentOf = (): Agent => {
  const agent = new Agent({ keepAlive: true })
  onTestFinished(() => agent.destroy())
  return agent
}

test('a kept connection is used as long as it is open, and one that ended unheard never', async () => {
  await using peer = await leavingPeer()
  const agent = agentOf()
  const begin = () => request({ agent, method: 'POST', port: peer.port, host: '127.0.0.1' })
  const opened = async () => {
    const out = await openRequest(begin)
    const answered = once(out, 'response') as Promise<[IncomingMessage]>
    out.end('x')
    const [answer] = await answered
    expect(await text(answer)).toBe('{}')
    return out.reusedSocket
  }
  expect(await opened()).toBe(false)
  expect(await opened()).toBe(true)
  // Two connections are kept.
  expect(await Promise.all([opened(), opened()])).toEqual([true, false])
  peer.leave()
  const late = await openRequest(begin)
  expect(late.reusedSocket).toBe(false)
  const [cause] = (await once(late.end(), 'error')) as [Error]
  expect(cause.message).toContain('ECONNREFUSED')
  expect(Object.keys(agent.freeSockets)).toEqual([])
})

test('an aborted request raises, whichever connection it has', async () => {
  await using peer = await leavingPeer()
  const agent = agentOf()
  const leaving = new AbortController()
  const { signal } = leaving
  const begin = () => request({ agent, port: peer.port, host: '127.0.0.1', signal })
  const first = await openRequest(begin)
  const answered = once(first, 'response') as Promise<[IncomingMessage]>
  first.end()
  await text((await answered)[0])
  const opening = openRequest(() => {
    const begun = begin()
    begun.once('socket', () => leaving.abort())
    return begun
  })
  await expect(opening).rejects.toThrow('aborted')
})
