import { expect, test } from 'vitest'
import { leavingPeer } from '../../../server/test/kit/leaving-peer.ts'
import { Gateway, NotSent } from './gateway.ts'

test('a message that comes before the end of a kept connection was heard was not sent, and may be sent again', async () => {
  await using peer = await leavingPeer()
  const locate = async () => new URL(`http://127.0.0.1:${peer.port}/mcp`)
  using gateway = new Gateway(locate, { read: async () => '0'.repeat(64) })
  const what = {
    method: 'POST',
    headers: {},
    body: '{}',
    signal: new AbortController().signal,
  } as const
  const hear = () => Promise.resolve()
  expect(await gateway.exchange(what, hear)).toMatchObject({ status: 200, text: '{}' })
  // The connection is free again.
  await new Promise((resolve) => setImmediate(resolve))
  peer.leave()
  await expect(gateway.exchange(what, hear)).rejects.toThrow(NotSent)
})
