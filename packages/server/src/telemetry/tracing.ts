import type { Log } from '../ports/log.ts'
import type { SpanFacts, Tracing } from '../ports/tracing.ts'

type Environment = Readonly<Record<string, string | undefined>>

const traceparent = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/
const none = /^0+$/

const isAskedFor = (env: Environment): boolean =>
  env['OTEL_SDK_DISABLED'] !== 'true' &&
  env['OTEL_TRACES_EXPORTER'] !== 'none' &&
  Boolean(env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'] ?? env['OTEL_EXPORTER_OTLP_ENDPOINT'])

const diagnosticsTo = (log: Pick<Log, 'warn'>) => ({
  error: (text: string) => log.warn({ from: 'tracing' }, text),
  warn: (text: string) => log.warn({ from: 'tracing' }, text),
  info: () => {},
  debug: () => {},
  verbose: () => {},
})

/**
 * Sends spans by OTLP over HTTP where the usual `OTEL_*` variables name an endpoint; null, and nothing is
 * loaded, where they do not.
 */
export const openTracing = async (options: {
  readonly env: Environment
  readonly version: string
  readonly log: Pick<Log, 'warn'>
}): Promise<Tracing | null> => {
  const { env, version, log } = options
  if (!isAskedFor(env)) return null
  const [api, { BasicTracerProvider, BatchSpanProcessor }, { OTLPTraceExporter }, resources] =
    await Promise.all([
      import('@opentelemetry/api'),
      import('@opentelemetry/sdk-trace-base'),
      import('@opentelemetry/exporter-trace-otlp-http'),
      import('@opentelemetry/resources'),
    ])
  // Reads what else the variables say: headers, timeouts, certificates, limits, the sampler.
  api.diag.setLogger(diagnosticsTo(log), {
    logLevel: api.DiagLogLevel.WARN,
    suppressOverrideMessage: true,
  })
  const provider = new BasicTracerProvider({
    resource: resources.defaultResource().merge(
      resources.resourceFromAttributes({
        'service.name': env['OTEL_SERVICE_NAME'] ?? 'gatehouse',
        'service.version': version,
      }),
    ),
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
  })
  const tracer = provider.getTracer('gatehouse', version)

  const contextOf = (parent: string | undefined) => {
    const [, traceId, spanId, flags] = traceparent.exec(parent ?? '') ?? []
    if (!traceId || !spanId || !flags || none.test(traceId) || none.test(spanId))
      return api.ROOT_CONTEXT
    const traceFlags = Number.parseInt(flags, 16)
    return api.trace.setSpanContext(api.ROOT_CONTEXT, {
      traceId,
      spanId,
      traceFlags,
      isRemote: true,
    })
  }

  return {
    async span({ name, parent, facts }, work) {
      const kind = api.SpanKind.SERVER
      const span = tracer.startSpan(name, { kind, attributes: { ...facts } }, contextOf(parent))
      const note = (more: SpanFacts, failure?: string): void => {
        span.setAttributes({ ...more })
        if (failure !== undefined)
          span.setStatus({ code: api.SpanStatusCode.ERROR, message: failure })
      }
      try {
        return await work(note)
      } catch (error) {
        note({}, error instanceof Error ? error.message : String(error))
        throw error
      } finally {
        span.end()
      }
    },
    async [Symbol.asyncDispose]() {
      await provider.shutdown().catch((err: unknown) => {
        log.warn({ err }, 'the last traces could not be sent')
      })
    },
  }
}
