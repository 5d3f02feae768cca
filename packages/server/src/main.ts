import { readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { dashboardPage, GatehouseError, type RunFile, setupUrl } from '@gatehouse/contract'
import type { App } from './app/app.ts'
import { type Op, systemOp } from './app/call/op.ts'
import { type Composition, compose } from './compose.ts'
import { type Flags, loadSettings } from './config/load.ts'
import type { Settings } from './config/settings.ts'
import { GatePool } from './gates/gate-pool.ts'
import {
  gatewayOptions,
  graceMs,
  hostsOf,
  levelOf,
  linksOf,
  surfaceOptions,
} from './gateway-options.ts'
import { assertInstalled } from './platform/assert-installed.ts'
import { removeRunFile, writeRunFile } from './platform/data-directory.ts'
import { Disposal } from './platform/disposal.ts'
import { isLoopbackHost, type NetworkPlaces, networkPlaces } from './platform/network-places.ts'
import { assertPortsFree, type Listener, portFailure } from './platform/ports.ts'
import type { Log } from './ports/log.ts'
import { createLog } from './telemetry/log.ts'
import { LogOutput } from './telemetry/log-output.ts'
import { fingerprintOf } from './tls/judge.ts'
import { type OpenedCertificates, openLocalCertificates } from './tls/open-certificates.ts'
import { openOwnCertificate } from './tls/open-own-certificate.ts'
import { type GatewayOptions, openGateway } from './transport/gateway/open-gateway.ts'
import { openUserApi } from './transport/rest/open-user-api.ts'
import { openWakePort } from './transport/wake/open-wake-port.ts'
import { openDashboard } from './transport/web/open-dashboard.ts'
import { Scrubber } from './vault/scrub/scrubber.ts'
import { version } from './version.ts'

/** The web page, beside this package whether it runs from its sources or compiled. */
const pages = fileURLToPath(new URL('../../dashboard/dist/', import.meta.url))

export type Started = {
  readonly run: RunFile
  readonly dataDir: string
  /** Where other machines reach what listens beyond this one. */
  readonly network: NetworkPlaces
  readonly firstAgentToken: string | null
  /** The agent whose token connects a client, until an agent has connected; null once one has. */
  readonly unconnectedAgent: string | null
  /** Makes the first operator; null once there is one. */
  readonly setupLink: string | null
}

export type ServeOptions = {
  readonly flags: Flags
  /** The program of a further gate process: it calls `serveGate`. */
  readonly gateProgram: URL
  /** Called once every surface listens. */
  readonly onReady?: (started: Started) => void
}

const openCertificates = (settings: Settings, log: Log, authority: string | null) => {
  const { 'tls.cert': cert, 'tls.key': key } = settings
  return cert !== null && key !== null
    ? openOwnCertificate({ files: { cert, key }, log })
    : openLocalCertificates({
        directory: join(settings.data_dir, 'tls'),
        hosts: [...hostsOf(settings), settings.dashboard_host],
        authority,
        log,
      })
}

/** The page is served meanwhile, and the next certificate would fail. */
const certificateHealth = ({ warning }: OpenedCertificates) => {
  const reason = warning()
  return reason === null
    ? ({ status: 'healthy' } as const)
    : ({ status: 'degraded', reason } as const)
}

/** Printed for the person who starts the service, and never logged. */
const linkFor = async (app: App, op: Op, url: string): Promise<string> =>
  setupUrl(url, (await app.createSetupLink(op)).token)

/** A vault that stays locked is degraded health, and no reason not to serve what needs no secret. */
const unlockVault = async (
  app: App,
  op: Op,
  { 'vault.passphrase_file': file }: Settings,
  log: Log,
): Promise<void> => {
  if (file === null) return
  const { locked, mode } = await app.showVault(op)
  if (!locked || mode !== 'passphrase') return
  try {
    const passphrase = readFileSync(file, 'utf8').replace(/\r?\n$/, '')
    await app.unlockVault(op, { passphrase })
  } catch (cause) {
    log.error({ err: cause, file }, 'the vault could not be unlocked with vault.passphrase_file')
  }
}

const listenersOf = (settings: Settings) => {
  const tcp = { protocol: 'tcp' } as const
  return {
    userApi: {
      ...tcp,
      surface: 'the User API',
      host: '127.0.0.1',
      port: settings.user_api_port,
      portFlag: '--user-api-port',
    },
    dashboard: {
      ...tcp,
      surface: 'the dashboard',
      host: settings.dashboard_host,
      port: settings.dashboard_port,
      portFlag: '--dashboard-port',
      hostFlag: '--dashboard-host',
    },
    gateway: {
      ...tcp,
      surface: 'the gateway',
      host: settings.host,
      port: settings.gateway_port,
      portFlag: '--gateway-port',
      hostFlag: '--host',
    },
    wake: {
      protocol: 'udp',
      surface: 'wakes',
      host: '127.0.0.1',
      port: settings.wake_port,
      portFlag: '--wake-port',
    },
  } as const
}

/** Null where one process serves all agents. */
const openPool = (
  { workers, origins }: Settings,
  program: URL | null,
  log: Log,
): GatePool | null => {
  if (workers === 1) return null
  if (program) return new GatePool({ count: workers, program, log })
  const origin = origins['workers'] ?? 'workers'
  throw new GatehouseError('InvalidConfiguration', {
    origin,
    detail: 'more than one worker needs the command gatehouse serve',
  })
}

const wayThrough =
  (pool: GatePool, app: App): NonNullable<GatewayOptions['wayTo']> =>
  async (token) => {
    const agent = await app.authenticateAgent(token)
    return agent && pool.wayTo(agent.name)
  }

/** Links to other nodes, by a certificate of this life of the node; null where there can be no others. */
const openLinks = async (composition: Composition, log: Log, opening: Disposal) => {
  if (!composition.app.nodes.ways.areNeeded)
    return { nodeIdentity: null, links: null, follow: () => undefined }
  const { issueOwn } = await import('./tls/issue.ts')
  const nodeIdentity = await issueOwn({ name: hostname(), nowMs: Date.now() })
  const links = opening.use(linksOf(composition, nodeIdentity, log))
  return { nodeIdentity, links, follow: () => links.start() }
}

/** Facts that other nodes are told of this one: an address of the network, where the gateway has one, and the certificate. */
const toldToNodes = (
  { node_url: url }: Settings,
  { gateway: [first] }: NetworkPlaces,
  own: string,
  identity: { readonly cert: string } | null,
) => identity && { url: url ?? first ?? own, certificate: fingerprintOf(identity.cert) }

const addressOf = ({ host, port }: Listener) => ({ host, port })

/** Between the look at the ports and this another program may have taken one. */
const listening = async <T>(listener: Listener, opened: Promise<T>): Promise<T> =>
  opened.catch((cause: unknown) => {
    throw portFailure(cause, listener)
  })

/** The agent to connect first: what came with the installation, else the oldest. */
const unconnectedOf = async (app: App, op: Op): Promise<string | null> => {
  const agents = await app.listAgents(op)
  if (agents.some(({ last_connected }) => last_connected !== null)) return null
  const usable = agents.filter(({ status }) => status === 'active')
  return (usable.find(({ name }) => name === 'first-agent') ?? usable[0])?.name ?? null
}

/** Opens every surface. Disposing it stops accepting, lets calls end, flushes the log and closes the store. */
export async function openService(
  flags: Flags,
  {
    scrubber = new Scrubber(),
    output = new LogOutput(process.stderr.fd),
    gateProgram = null as URL | null,
  } = {},
): Promise<Started & AsyncDisposable> {
  assertInstalled()
  const settings = loadSettings(flags)
  const log = createLog(levelOf(settings), output, (line) => scrubber.scrub(line))
  await using opening = new Disposal()
  const listeners = listenersOf(settings)
  const beforeCreating = () => assertPortsFree(Object.values(listeners))
  const pool = openPool(settings, gateProgram, log)
  const gates = pool?.link ?? null
  const composition = opening.use(
    await compose(settings, log, { beforeCreating, gates, scrubber, output }),
  )
  const { app, ids } = composition
  app.listeners.expect('user_api', 'dashboard', 'gateway')
  await app.nodes.assertFits()
  const tls = opening.use(await openCertificates(settings, log, await app.nodes.sharedAuthority()))
  const recordAuthority = async (): Promise<void> => {
    const fingerprint = tls.authority()
    if (fingerprint !== null) await app.nodes.recordAuthority(fingerprint)
  }
  await recordAuthority()
  app.listeners.certificate = () => tls.describe()
  opening.use(
    tls.onChange(() => {
      recordAuthority().catch((cause: unknown) =>
        log.error({ err: cause }, 'the new certificate authority could not be recorded'),
      )
    }),
  )
  const surface = surfaceOptions(settings, composition, log)
  const userApi = opening.use(
    await listening(
      listeners.userApi,
      openUserApi({ ...surface, ...addressOf(listeners.userApi) }),
    ),
  )
  const dashboard = opening.use(
    await listening(
      listeners.dashboard,
      openDashboard({
        ...surface,
        ...addressOf(listeners.dashboard),
        allowedHosts: [...hostsOf(settings), settings.dashboard_host],
        tls,
        pages,
      }),
    ),
  )
  const nodes = await openLinks(composition, log, opening)
  const gateway = await listening(
    listeners.gateway,
    openGateway({
      ...gatewayOptions(settings, composition, log, nodes.links),
      ...addressOf(listeners.gateway),
      ...(pool ? { wayTo: wayThrough(pool, app) } : {}),
    }),
  )
  // At once: a server is closed when nobody has a connection of it any more.
  opening.defer(async () => {
    await Promise.all([gateway.close(graceMs), pool?.[Symbol.asyncDispose]()])
  })
  app.listeners.opened('user_api')
  app.listeners.opened('dashboard', () => certificateHealth(tls))
  const publicUrl = settings['server.public_url']
  const page = publicUrl ?? dashboard.url
  app.listeners.page = dashboardPage(page)
  app.listeners.opened('gateway')
  const urls = { gateway_url: gateway.url, dashboard_url: dashboard.url }
  const network = networkPlaces(settings, urls)
  app.listeners.address = gateway.url
  app.listeners.link = toldToNodes(settings, network, gateway.url, nodes.nodeIdentity)
  for (const url of [gateway.url, userApi.url, dashboard.url])
    app.listeners.ports.add(Number(new URL(url).port))
  const op = systemOp({ ids, signal: new AbortController().signal })
  await unlockVault(app, op, settings, log)
  await app.start()
  nodes.follow()
  await pool?.start({
    flags,
    page: app.listeners.page,
    address: gateway.url,
    ports: [...app.listeners.ports],
    nodeIdentity: nodes.nodeIdentity,
  })
  const wake = opening.use(
    await listening(listeners.wake, openWakePort({ app, log, port: settings.wake_port })),
  )
  // Everything listens, so what can be shown once only is not created for a start that fails.
  await composition.prepareCliToken()
  const firstAgentToken = await composition.prepareFirstAgent()
  const unconnectedAgent = await unconnectedOf(app, op)
  const setupLink = (await app.needsSetup()) ? await linkFor(app, op, page) : null
  const run: RunFile = {
    pid: process.pid,
    version,
    started_at: new Date().toISOString(),
    ...urls,
    mcp_url: gateway.mcpUrl,
    user_api_url: userApi.url,
    ...(publicUrl === null ? {} : { public_url: publicUrl }),
    wake_port: wake.port,
  }
  writeRunFile(settings.data_dir, run)
  app.listeners.ready()
  opening.defer(() => removeRunFile(settings.data_dir))
  log.info(
    {
      pid: run.pid,
      gateway_url: run.gateway_url,
      user_api_url: run.user_api_url,
      dashboard_url: run.dashboard_url,
    },
    'listening',
  )
  if (!isLoopbackHost(settings.host))
    log.warn({ host: settings.host }, 'the gateway listens beyond this machine, without TLS')
  opening.defer(async () => app.listeners.stopping())
  const closing = opening.move()
  return {
    run,
    dataDir: settings.data_dir,
    network,
    firstAgentToken,
    unconnectedAgent,
    setupLink,
    [Symbol.asyncDispose]: () => closing[Symbol.asyncDispose](),
  }
}

const stopRequested = (faulty: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const stop = () => resolve()
    process.once('SIGTERM', stop)
    process.once('SIGINT', stop)
    faulty.addEventListener('abort', stop, { once: true })
  })

/** Serves until it is asked to stop. Returns the exit code: 0, or 70 after a fault that nothing caught. */
export async function serve(options: ServeOptions): Promise<number> {
  let code = 0
  const faulty = new AbortController()
  const scrubber = new Scrubber()
  const output = new LogOutput(process.stderr.fd)
  const scrub = (line: string) => scrubber.scrub(line)
  const fault = (cause: unknown) => {
    createLog('error', output, scrub).error({ err: cause }, 'a fault that nothing caught; stopping')
    code = 70
    faulty.abort()
  }
  process.on('unhandledRejection', fault)
  process.on('uncaughtException', fault)
  const stopped = stopRequested(faulty.signal)
  const { flags, gateProgram } = options
  await using service = await openService(flags, { scrubber, output, gateProgram })
  options.onReady?.(service)
  await stopped
  return code
}
