import { replacing } from '@gatehouse/testkit/replacing'
import { expect, test } from 'vitest'
import type { AuditReader } from '../../src/ports/audit.ts'
import { openRestKit, type RestKit } from './kit.ts'

async function open(kit: RestKit, path: string, stopping?: AbortSignal) {
  const authorization = `Bearer ${kit.tokens.viewer}`
  const request = new Request(`http://gatehouse.localhost${path}`, { headers: { authorization } })
  const response = await kit.rest.fetch(request, stopping ? { stopping } : {})
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  if (!reader) throw new Error('there is no body')
  let text = ''
  return {
    response,
    reader,
    /** Reads until the text so far holds `words`, and returns all of it. */
    async until(words: string | RegExp): Promise<string> {
      while (text.search(words) === -1) {
        const { done, value } = await reader.read()
        if (done) return `${text}[end]`
        text += value
      }
      return text
    },
  }
}

test('begins with what waits, goes on with what happens, and stops listening with its reader', async () => {
  await using kit = await openRestKit()
  const stream = await open(kit, '/api/approvals/stream')
  expect(stream.response.headers.get('content-type')).toBe('text/event-stream')
  expect(await stream.until('"total":1')).toContain('event: snapshot')
  const another = await kit.ask('Another')
  expect(await stream.until(another)).toContain('event: approval')
  await stream.reader.cancel()
  expect(kit.listeners()).toBe(0)
})

test('tells what happened while the list was made after the list, which is older', async () => {
  await using kit = await openRestKit()
  const { app } = kit.kit
  const { listApprovals } = app
  Object.assign(app, {
    listApprovals: async (...given: Parameters<typeof listApprovals>) => {
      const list = await listApprovals(...given)
      await kit.kit.decide(list.approvals[0]?.id ?? '', 'reject')
      await kit.ask('Another')
      return list
    },
  })
  const stream = await open(kit, '/api/approvals/stream')
  const text = await stream.until(/event: approval\n.*"status":"pending"/)
  expect(text.match(/event: \w+/g)).toEqual([
    'event: snapshot',
    'event: approval',
    'event: approval',
  ])
  expect(text).toMatch(/"status":"rejected".*\n\n.*\n.*"status":"pending".*\n\n$/)
  await stream.reader.cancel()
})

test('shows a slow reader only the latest of each approval', async () => {
  await using kit = await openRestKit()
  const stream = await open(kit, '/api/approvals/stream')
  await stream.until('"total":1')
  let told = 0
  using _listening = kit.kit.app.subscribeApprovals(() => void (told += 1))
  // The stream may hold one frame ahead of its reader; the rest waits and is replaced.
  const ids: string[] = []
  for (let n = 0; n < 20; n += 1) ids.push(await kit.ask(`Another ${n}`))
  for (const id of ids) await kit.kit.decide(id, 'reject')
  const last = new RegExp(`"id":"${ids.at(-1)}"[^\\n]*"status":"rejected"`)
  const text = await stream.until(last)
  expect(told).toBe(40)
  expect(text.match(/event: approval/g)?.length).toBeLessThan(30)
  await stream.reader.cancel()
})

test('shows that it is alive while nothing happens', async () => {
  await using kit = await openRestKit({}, { heartbeatMs: 1 })
  const stream = await open(kit, '/api/approvals/stream')
  expect(await stream.until(': still here')).toContain(': still here')
  await stream.reader.cancel()
})

test('tells nothing more to a token that was revoked meanwhile', async () => {
  await using kit = await openRestKit()
  const stream = await open(kit, '/api/approvals/stream')
  await stream.until('"total":1')
  const op = kit.kit.operator()
  const viewer = (await kit.kit.app.listUserTokens(op)).find(({ role }) => role === 'viewer')
  await kit.kit.app.revokeUserToken(op, { id: viewer?.id ?? '' })
  expect(await stream.until(await kit.ask('Another'))).toMatch(/\[end\]$/)
  expect(kit.listeners()).toBe(0)
})

test('ends when the server stops', async () => {
  await using kit = await openRestKit()
  const stopping = new AbortController()
  const stream = await open(kit, '/api/approvals/stream', stopping.signal)
  await stream.until('"total":1')
  stopping.abort()
  expect(await stream.until('never')).toMatch(/\[end\]$/)
})

test('exports the log as lines', async () => {
  await using kit = await openRestKit()
  const answer = await kit.call('GET', '/api/audit/export', { role: 'viewer' })
  expect(answer.headers.get('content-type')).toBe('application/x-ndjson')
  const lines = String(answer.body.text).split('\n')
  expect(lines.pop()).toBe('')
  const parsed = lines.map((line) => JSON.parse(line) as { id?: string; format?: string })
  expect(parsed[0]?.format).toBe('gatehouse-audit-export-v1')
  const entries = await kit.kit.audit()
  expect(parsed.flatMap(({ id }) => id ?? [])).toEqual(entries.map(({ id }) => id).toReversed())
})

test('answers with a problem document when an export cannot even begin', async () => {
  // biome-ignore lint/correctness/useYield: it fails before the first line
  const failing: Partial<AuditReader> = {
    async *export() {
      throw new Error('no disk')
    },
  }
  await using kit = await openRestKit({
    ports: (name, port) => (name === 'audit' ? replacing(port, failing as typeof port) : port),
  })
  expect((await kit.call('GET', '/api/audit/export', { role: 'viewer' })).status).toBe(500)
})

test.each([
  '/api/approvals/stream',
  '/api/activity/stream',
  '/api/progress/stream',
  '/api/audit/export',
])('HEAD of %s is answered as GET is, and leaves nothing open', async (path) => {
  const opened: string[] = []
  const watch = <T>(source: AsyncIterable<T>): AsyncIterable<T> => ({
    async *[Symbol.asyncIterator]() {
      opened.push('open')
      try {
        yield* source
      } finally {
        opened.pop()
      }
    },
  })
  await using kit = await openRestKit()
  const { app } = kit.kit
  const { followActivity, exportAudit } = app
  Object.assign(app, {
    followActivity: (...given: Parameters<typeof followActivity>) =>
      watch(followActivity(...given)),
    exportAudit: (...given: Parameters<typeof exportAudit>) => watch(exportAudit(...given)),
  })
  const authorization = `Bearer ${kit.tokens.operator}`
  const request = new Request(`http://gatehouse.localhost${path}`, {
    method: 'HEAD',
    headers: { authorization },
  })
  const answer = await kit.rest.fetch(request)
  expect([answer.status, answer.body]).toEqual([200, null])
  const { response, reader } = await open(kit, path)
  expect(answer.headers.get('content-type')).toBe(response.headers.get('content-type'))
  await reader.cancel()
  await expect.poll(() => [kit.listeners(), opened]).toEqual([0, []])
})
