import type { RunFile } from '@gatehouse/contract'
import { compose } from './compose.ts'
import { type Flags, loadSettings } from './config/load.ts'
import { removeRunFile, writeRunFile } from './platform/data-directory.ts'
import { Disposal } from './platform/disposal.ts'
import { createLog } from './telemetry/log.ts'
import { openGateway } from './transport/gateway/open-gateway.ts'
import { openUserApi } from './transport/rest/open-user-api.ts'
import { version } from './version.ts'

/** How long running calls may take to finish once the service is asked to stop. */
const graceMs = 8_000

export type Started = {
  readonly run: RunFile
  readonly dataDir: string
  readonly firstAgentToken: string | null
}

export type ServeOptions = {
  readonly flags: Flags
  /** Called once every surface listens. */
  readonly onReady?: (started: Started) => void
  /** Stops the service, as SIGTERM does. */
  readonly signal?: AbortSignal
}

/** Opens every surface. Disposing it stops accepting, lets calls end, flushes the log and closes the store. */
export async function openService(flags: Flags): Promise<Started & AsyncDisposable> {
  const settings = loadSettings(flags)
  const log = createLog(settings.logLevel)
  await using opening = new Disposal()
  const composition = opening.use(await compose(settings, log))
  const { app, ids, firstAgentToken } = composition
  const doors = {
    app,
    ids,
    log,
    version,
    allowedHosts: settings.allowedHosts,
    allowedOrigins: settings.allowedOrigins,
  }
  const userApi = opening.use(
    await openUserApi({ ...doors, host: '127.0.0.1', port: settings.userApiPort }),
  )
  const gateway = await openGateway({
    ...doors,
    host: settings.host,
    port: settings.gatewayPort,
    onTokenFailures: (report) => void app.reportTokenFailures({ ...report, door: 'gateway' }),
    limits: { bodyBytesMax: settings.bodyBytesMax, jsonDepthMax: settings.jsonDepthMax },
  })
  opening.defer(() => gateway.close(graceMs))
  await app.start()
  const run: RunFile = {
    pid: process.pid,
    version,
    started_at: new Date().toISOString(),
    gateway_url: gateway.url,
    mcp_url: gateway.mcpUrl,
    user_api_url: userApi.url,
  }
  writeRunFile(settings.dataDir, run)
  opening.defer(() => removeRunFile(settings.dataDir))
  log.info(
    { pid: run.pid, gateway_url: run.gateway_url, user_api_url: run.user_api_url },
    'listening',
  )
  const closing = opening.move()
  return {
    run,
    dataDir: settings.dataDir,
    firstAgentToken,
    [Symbol.asyncDispose]: () => closing[Symbol.asyncDispose](),
  }
}

const stopRequested = (signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve) => {
    const stop = () => resolve()
    process.once('SIGTERM', stop)
    process.once('SIGINT', stop)
    signal?.addEventListener('abort', stop, { once: true })
  })

/** Serves until it is asked to stop. Returns the exit code: 0, or 70 after a fault that nothing caught. */
export async function serve(options: ServeOptions): Promise<number> {
  let code = 0
  const faulty = new AbortController()
  const stop = options.signal ? AbortSignal.any([options.signal, faulty.signal]) : faulty.signal
  const fault = (cause: unknown) => {
    createLog('error').error({ err: cause }, 'a fault that nothing caught; stopping')
    code = 70
    faulty.abort()
  }
  process.on('unhandledRejection', fault)
  process.on('uncaughtException', fault)
  const stopped = stopRequested(stop)
  await using service = await openService(options.flags)
  options.onReady?.(service)
  await stopped
  return code
}
