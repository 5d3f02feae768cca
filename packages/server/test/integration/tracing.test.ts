import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createKit } from '@gatehouse/testkit'
import { expect, onTestFinished, test, vi } from 'vitest'
import { openTracing } from '../../src/telemetry/tracing.ts'

type Span = {
  readonly name: string
  readonly traceId: string
  readonly parentSpanId?: string
  readonly status?: { readonly code?: number; readonly message?: string }
  readonly attributes: readonly { readonly key: string; readonly value: { stringValue?: string } }[]
}

/** Collector that takes OTLP over HTTP. */
const collector = async () => {
  const spans: Span[] = []
  const server = createServer((req, res) => {
    const chunks: Buffer[] = []
    req.on('data', (chunk: Buffer) => chunks.push(chunk))
    req.on('end', () => {
      const body = JSON.parse(Buffer.concat(chunks).toString()) as {
        resourceSpans: { scopeSpans: { spans: Span[] }[] }[]
      }
      for (const { scopeSpans } of body.resourceSpans)
        for (const scope of scopeSpans) spans.push(...scope.spans)
      res.setHeader('Content-Type', 'application/json').end('{}')
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return { spans, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

const silent = { warn: () => {} }

const fact = (span: Span | undefined, key: string) =>
  span?.attributes.find((attribute) => attribute.key === key)?.value.stringValue

test('without an endpoint there is no tracing', async () => {
  expect(await openTracing({ env: {}, version: '0', log: silent })).toBeNull()
  const disabled = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1', OTEL_SDK_DISABLED: 'true' }
  expect(await openTracing({ env: disabled, version: '0', log: silent })).toBeNull()
})

test('each call and each approved run is a span, joined to the trace it came with', async () => {
  const { spans, url } = await collector()
  vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', url)
  onTestFinished(() => void vi.unstubAllEnvs())
  const tracing = await openTracing({ env: process.env, version: '0', log: silent })
  if (!tracing) throw new Error('tracing was asked for')
  {
    await using kit = await createKit({ tracing })
    await kit.agent('bob')
    const trace = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
    const secret = 'words that belong to the file alone'
    const write = { path: 'a.txt', content: secret }
    await kit.invoke('bob', 'filesystem.write', write, { trace })
    await kit.invoke('bob', 'filesystem.read', { path: 'missing.txt' }, { trace: 'nonsense' })
    const id = await kit.pending('bob', 'filesystem.delete', { path: 'a.txt' })
    await kit.decide(id, 'approve')
    await kit.resolved('bob', id)
  }
  await tracing[Symbol.asyncDispose]()

  const invokes = spans.filter(({ name }) => name === 'invoke')
  const [written, failed, held] = invokes
  expect(invokes).toHaveLength(3)
  expect(written).toMatchObject({
    traceId: '0af7651916cd43dd8448eb211c80319c',
    parentSpanId: 'b7ad6b7169203331',
  })
  expect(fact(written, 'gatehouse.capability')).toBe('filesystem.write')
  expect(fact(written, 'gatehouse.agent')).toBe('bob')
  expect(fact(written, 'gatehouse.outcome')).toBe('succeeded')
  expect(failed?.parentSpanId ?? '').toBe('')
  expect(failed?.status).toMatchObject({ code: 2, message: 'FileNotFound' })
  expect(fact(held, 'gatehouse.outcome')).toBe('pending')
  const run = spans.find(({ name }) => name === 'execute approval')
  expect(fact(run, 'gatehouse.approval_id')).toBe(fact(held, 'gatehouse.approval_id'))
  expect(JSON.stringify(spans)).not.toContain('belong to the file alone')
})

test('an endpoint that nobody listens at costs nothing but a line in the log', async () => {
  vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', 'http://127.0.0.1:9')
  vi.stubEnv('OTEL_EXPORTER_OTLP_TIMEOUT', '500')
  onTestFinished(() => void vi.unstubAllEnvs())
  const tracing = await openTracing({ env: process.env, version: '0', log: silent })
  const facts = { 'gatehouse.agent': 'bob' }
  const done = tracing?.span({ name: 'invoke', parent: undefined, facts }, async () => 'done')
  expect(await done).toBe('done')
  await expect(
    tracing?.span({ name: 'invoke', parent: undefined, facts }, async () => {
      throw new Error('of the work')
    }),
  ).rejects.toThrow('of the work')
  await tracing?.[Symbol.asyncDispose]()
})
