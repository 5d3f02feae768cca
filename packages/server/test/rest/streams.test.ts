import { fakeApproval, fakeTokens } from '@gatehouse/testkit/fake-app'
import { expect, test } from 'vitest'
import { createRestKit, type RestKit } from './kit.ts'

async function open(kit: RestKit, path: string, stopping?: AbortSignal) {
  const authorization = `Bearer ${fakeTokens.viewer}`
  const request = new Request(`http://gatehouse.localhost${path}`, { headers: { authorization } })
  const response = await kit.rest.fetch(request, stopping ? { stopping } : {})
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  if (!reader) throw new Error('there is no body')
  let text = ''
  return {
    response,
    reader,
    /** Reads until the text so far holds `words`, and returns all of it. */
    async until(words: string): Promise<string> {
      while (!text.includes(words)) {
        const { done, value } = await reader.read()
        if (done) return `${text}[end]`
        text += value
      }
      return text
    },
  }
}

test('begins with what waits, goes on with what happens, and stops listening with its reader', async () => {
  const kit = createRestKit()
  kit.fake.tell(fakeApproval(1))
  const stream = await open(kit, '/api/approvals/stream')
  expect(stream.response.headers.get('content-type')).toBe('text/event-stream')
  expect(await stream.until('"total":1')).toContain('event: snapshot')
  kit.fake.tell(fakeApproval(2))
  expect(await stream.until(fakeApproval(2).id)).toContain('event: approval')
  await stream.reader.cancel()
  expect(kit.fake.listeners()).toBe(0)
})

test('shows a slow reader only the latest of each approval', async () => {
  const kit = createRestKit()
  const stream = await open(kit, '/api/approvals/stream')
  await stream.until('"total":0')
  // The stream may hold one frame ahead of its reader; the rest waits and is replaced.
  for (const status of ['pending', 'approved', 'rejected', 'expired', 'cancelled'] as const)
    kit.fake.tell(fakeApproval(1, { status }))
  const text = await stream.until('"status":"cancelled"')
  expect(text.match(/event: approval/g)?.length).toBeLessThan(5)
  await stream.reader.cancel()
})

test('shows that it is alive while nothing happens', async () => {
  const kit = createRestKit({}, { heartbeatMs: 1 })
  const stream = await open(kit, '/api/approvals/stream')
  expect(await stream.until(': still here')).toContain(': still here')
  await stream.reader.cancel()
})

test('tells nothing more to a token that was revoked meanwhile', async () => {
  const kit = createRestKit()
  const stream = await open(kit, '/api/approvals/stream')
  await stream.until('"total":0')
  kit.fake.forget('viewer')
  kit.fake.tell(fakeApproval(1))
  expect(await stream.until(fakeApproval(1).id)).toMatch(/\[end\]$/)
  expect(kit.fake.listeners()).toBe(0)
})

test('ends when the server stops', async () => {
  const kit = createRestKit()
  const stopping = new AbortController()
  const stream = await open(kit, '/api/approvals/stream', stopping.signal)
  await stream.until('"total":0')
  stopping.abort()
  expect(await stream.until('never')).toMatch(/\[end\]$/)
})

test('exports the log as lines', async () => {
  const kit = createRestKit()
  const answer = await kit.call('GET', '/api/audit/export', { role: 'viewer' })
  expect(answer.headers.get('content-type')).toBe('application/x-ndjson')
  const lines = String(answer.body.text).split('\n')
  expect(lines).toHaveLength(3)
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ id: kit.fake.entries[0]?.id })
  expect(lines[2]).toBe('')
})

test('answers with a problem document when an export cannot even begin', async () => {
  const kit = createRestKit({
    // biome-ignore lint/correctness/useYield: it fails before the first line
    async *exportAudit() {
      throw new Error('no disk')
    },
  })
  expect((await kit.call('GET', '/api/audit/export', { role: 'viewer' })).status).toBe(500)
})
