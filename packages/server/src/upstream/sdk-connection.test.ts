import type { Transport } from '@modelcontextprotocol/client'
import { expect, test } from 'vitest'
import { SdkConnection } from './sdk-connection.ts'

/** Takes every message and says nothing, as a program that is no server. */
class SilentTransport implements Transport {
  onclose?: () => void
  reason: string | null = null
  async start(): Promise<void> {}
  async send(): Promise<void> {}
  async close(): Promise<void> {
    this.reason ??= 'it was closed'
    this.onclose?.()
  }
}

test('one that never answers is said to be late, and not closed, and what it said is told', async () => {
  const transport = new SilentTransport()
  const opened = SdkConnection.open(
    {
      ...{ name: 'silent', version: '0.0.0', mode: 'legacy', connectMs: 1, shared: false },
      transport,
      reason: () => transport.reason,
      heard: () => ['It said: listening on port 80'],
      hostsRefused: () => [],
      certificate: () => null,
      dispose: async () => {},
    },
    new AbortController().signal,
  )
  await expect(opened).rejects.toMatchObject({
    type: 'UpstreamFailed',
    facts: { detail: 'it did not answer in time. It said: listening on port 80' },
  })
  expect(transport.reason).toBe('it was closed')
})
