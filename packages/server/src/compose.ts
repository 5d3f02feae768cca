import { setMaxListeners } from 'node:events'
import { availableParallelism, hostname } from 'node:os'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { didYouMean, GatehouseError } from '@gatehouse/contract'
import { createFirstAgent } from './app/agents/first-start.ts'
import type { AppDeps } from './app/app-deps.ts'
import { MemoryBudget } from './app/call/memory-budget.ts'
import { systemOp } from './app/call/op.ts'
import { type BoundApp, createApp } from './app/create-app.ts'
import type { EngineParts } from './app/inference/inference.ts'
import { assertOwnName } from './app/nodes/fit.ts'
import { readRow } from './app/upstreams/stored.ts'
import type { CallUpstream } from './app/upstreams/tool-capability.ts'
import { ToolTable } from './app/upstreams/tool-table.ts'
import { createAuditExports, type RunningExports } from './audit-export/create-audit-exports.ts'
import { createBackups } from './backup/create-backups.ts'
import { createRegistry } from './capabilities/registry.ts'
import { standardCapabilities } from './capabilities/standard.ts'
import type { Settings } from './config/settings.ts'
import { createFilesFactory } from './files/create-files-factory.ts'
import { GatePlace } from './gate-place.ts'
import { answerLimits, homeLimits } from './gates/home-limits.ts'
import { createSharing } from './gates/sharing.ts'
import { createGit } from './git/create-git.ts'
import { createCatalogSource } from './inference/create-catalog-source.ts'
import { createModelFiles } from './inference/create-model-files.ts'
import { createEngineHost } from './inference/engine/create-engine-host.ts'
import { NpmEngineInstaller } from './inference/engine/npm-engine-installer.ts'
import { openAuditLog } from './log/audit-log.ts'
import { lastClockOf } from './log/last-clock.ts'
import { LogFiles } from './log/log-files.ts'
import type { RetentionRules } from './log/retention.ts'
import { logFolder } from './log/sibling-logs.ts'
import { VerifierThread } from './log/verifier-thread.ts'
import { createOutbound } from './outbound/create-outbound.ts'
import type { Overrides } from './overrides.ts'
import { createCalendar } from './platform/calendar.ts'
import { createClock } from './platform/clock.ts'
import {
  cliTokenFile,
  holderPid,
  nodeName,
  openDataDirectory,
  readCliToken,
  writePid,
  writePrivateFile,
} from './platform/data-directory.ts'
import { createDigest } from './platform/digest.ts'
import { Disposal } from './platform/disposal.ts'
import { createEventBus } from './platform/event-bus.ts'
import { createHost } from './platform/host.ts'
import { createIds } from './platform/ids.ts'
import { isInstalled } from './platform/is-installed.ts'
import { createNodeKeyFiles } from './platform/node-key-files.ts'
import { createNotifier } from './platform/notifier.ts'
import { makeWorkspaces, openWorkspaces, siteFile } from './platform/open-workspaces.ts'
import { createPasswords } from './platform/passwords.ts'
import { createPolicyShare } from './platform/policy-share-files.ts'
import { recordedStore, recordStore } from './platform/store-record.ts'
import { createToolSearch } from './platform/tool-search.ts'
import { createWakeCommands } from './platform/wake-commands.ts'
import { openPolicySource } from './policy/source.ts'
import type { ChangingRegistry } from './ports/capability.ts'
import type { Clock } from './ports/clock.ts'
import type { Gates } from './ports/gates.ts'
import type { Ids } from './ports/ids.ts'
import type { Log } from './ports/log.ts'
import type { Sandbox } from './ports/sandbox.ts'
import type { ServiceAdapters } from './ports/service-adapter.ts'
import type { Storage } from './ports/storage.ts'
import { createProcessHost } from './processes/create-process-host.ts'
import { createCalendarAdapter } from './proxy/adapters/calendar/calendar-adapter.ts'
import { createMailAdapter } from './proxy/adapters/mail/mail-adapter.ts'
import { createSandbox } from './sandbox/create-sandbox.ts'
import { withRelativeWorkspaces } from './storage/relative-workspaces.ts'
import { copyRunning } from './storage/sqlite/copy-running.ts'
import { lockDataDirectory } from './storage/sqlite/lock.ts'
import { openSqlite } from './storage/sqlite/open.ts'
import type { LogOutput } from './telemetry/log-output.ts'
import { createMetrics } from './telemetry/metrics.ts'
import { openTracing } from './telemetry/tracing.ts'
import { heldBytesFor } from './transport/http/held-bytes.ts'
import { createUpstreamHost } from './upstream/create-upstream-host.ts'
import { Logins } from './upstream/oauth/logins.ts'
import { openVault } from './vault/open-vault.ts'
import type { Scrubber } from './vault/scrub/scrubber.ts'
import type { LogPlace } from './verify-log.ts'
import { version } from './version.ts'

/** The service without its listeners. */
export type Composition = AsyncDisposable & {
  readonly app: BoundApp
  readonly ids: Ids
  readonly log: Log
  readonly storage: Storage
  readonly node: string
  /** The operator token that the CLI of this machine uses, created where there is none. */
  prepareCliToken(): Promise<string>
  /** The token of the first agent at the first start of a server; null at every later one. */
  prepareFirstAgent(): Promise<string | null>
}

export type ComposeOptions = {
  /** False for a command that works on the store while no server runs. */
  readonly runsApproved?: boolean
  /** For the command that moves a store: it opens one that is on its way, too. */
  readonly moves?: boolean
  /** Called before a data directory is created or a lasting thing in it. */
  readonly beforeCreating?: () => Promise<void>
  /** The other gate processes of this node; null or left out where there is one. */
  readonly gates?: Gates | null
  readonly scrubber: Scrubber
  readonly output: Pick<LogOutput, 'dropped'>
}

/** Set by the first start of a server that got as far as listening: commands before it do not count. */
const servedKey = 'served'

const storeOf = ({ database_url, origins }: Settings) => ({
  engine: database_url === null ? ('sqlite' as const) : ('postgres' as const),
  origin: origins['database_url'] ?? 'database_url',
})

/** The lock of the engine's packages, and our own program that runs models with them. */
const engineFile = (name: string): string =>
  fileURLToPath(new URL(`../engine/${name}`, import.meta.url))

const engineOf = (settings: Settings, sandbox: Sandbox, ownDir: string): EngineParts => {
  const {
    data_dir: dataDir,
    'outbound.proxy': proxy,
    'outbound.ca_file': caFile,
    commandEnvironment,
  } = settings
  const installer = new NpmEngineInstaller({
    folder: join(dataDir, 'engine'),
    lockFile: engineFile('engine-lock.json'),
    environment: {
      ...commandEnvironment,
      ...(proxy === null ? {} : { npm_config_https_proxy: proxy }),
      ...(caFile === null ? {} : { NODE_EXTRA_CA_CERTS: caFile }),
    },
  })
  const host = createEngineHost({
    sandbox,
    installer,
    folder: join(ownDir, 'engine-runs'),
    threads: settings['engine.threads'],
    worker: engineFile('worker.mjs'),
  })
  return { installer, host }
}

/** The log of each gate process gets its part of the size. */
const retentionOf = (settings: Settings, exported: RetentionRules['exported']): RetentionRules => {
  const maxBytes = settings['audit.retention.max_bytes']
  return {
    maxAgeMs: settings['audit.retention.max_age'],
    maxBytes: maxBytes === null ? null : Math.floor(maxBytes / settings.workers),
    exported,
  }
}

/** A service verifies its log in the background; a command without one asks for what it needs. */
const verificationOf = (
  isService: boolean,
  verifier: VerifierThread,
  { verifiesOnThread = true }: Overrides,
) => ({
  ...(verifiesOnThread ? { verifier } : {}),
  ...(isService ? {} : { verifyEveryMs: 0 }),
})

/** Address for the thread that verifies: its session is read-only, which must be nobody else's. */
const verifierUrl = ({ database_url: url, database_direct_url: directUrl }: Settings) =>
  url === null ? null : (directUrl ?? url)

/** A service keeps a processor for calls; a command has nothing else to do. Fewer entries are verified while threads start. */
const verifyingHelpers = (isService: boolean): LogPlace['helpers'] => {
  const threads = Math.min(4, availableParallelism() - (isService ? 1 : 0))
  return threads < 2 ? null : { threads, entriesMin: 100_000 }
}

/** The program of a thread beside this file. Sources and build differ in the extension alone. */
const programOf = (name: string): URL =>
  new URL(`./${name}${extname(import.meta.url)}`, import.meta.url)

const openStorage = async (
  { database_url: url, database_direct_url: directUrl, 'audit.durable': durable }: Settings,
  {
    file,
    gates,
    workspacesFolder,
    ...given
  }: {
    file: string
    expectedId: string | null
    moves: boolean | undefined
    gates: Gates | null
    workspacesFolder: string
  },
  { storage: exchange = (opened: Storage) => opened }: Overrides,
): Promise<Storage> => {
  const wrap = (opened: Storage) => exchange(withRelativeWorkspaces(opened, workspacesFolder))
  if (url === null) {
    const sharing = gates && createSharing(gates)
    const storage = await openSqlite({ file, ...given, sharing })
    return wrap(gates ? { ...storage, limits: homeLimits({ gates, storage }) } : storage)
  }
  // Loaded only where it is used: most installations never do.
  const { openPostgres } = await import('./storage/postgres/open.ts')
  const syncsLimits = durable === 'local'
  return wrap(await openPostgres({ url, directUrl: directUrl ?? url, ...given, syncsLimits }))
}

/** Services that can be connected behind the proxy. */
const serviceAdapters: ServiceAdapters = new Map(
  [createCalendarAdapter(), createMailAdapter()].map((adapter) => [adapter.kind, adapter]),
)

/** @throws InvalidConfiguration for a delay of what there is not: it would never apply. */
const adaptersFor = (
  { 'proxy.delays': delays, origins }: Settings,
  { adapters = serviceAdapters }: Overrides,
): ServiceAdapters => {
  const known = [...adapters.values()].flatMap(({ kind, operations }) =>
    operations.map(({ name }) => `${kind}.${name}`),
  )
  for (const operation of delays.keys())
    if (!known.includes(operation))
      throw new GatehouseError('InvalidConfiguration', {
        origin: origins['proxy.delays'] ?? 'proxy.delays',
        detail: `there is no operation ${operation}.${didYouMean(operation, known)}`,
      })
  return adapters
}

/** The store may lack the last groups of a service that was killed. */
const clockAfter = async (storage: Storage, logFiles: LogFiles): Promise<Clock> =>
  createClock(Math.max(await storage.clock.read(), lastClockOf(logFiles)))

const openSandbox = (
  { data_dir: dataDir, 'sandbox.mode': mode, 'sandbox.user': user }: Settings,
  at: { readonly folder: string; readonly workspaces: string },
  log: Log,
  opening: Disposal,
): Sandbox => opening.use(createSandbox({ dataDir, ...at, mode, user, log }))

/** The servers behind the gate, and the tools of them that were accepted. */
const openUpstreams = async (
  { commandEnvironment, 'upstream.client_metadata_url': url }: Settings,
  ownDir: string,
  given: Pick<
    AppDeps,
    'storage' | 'digest' | 'sandbox' | 'outbound' | 'secrets' | 'clock' | 'node' | 'files'
  > & {
    readonly registry: ChangingRegistry
    readonly call: CallUpstream
  },
): Promise<AppDeps['upstreams']> => {
  const logins = new Logins({ ...given, clientMetadataUrl: url })
  const host = createUpstreamHost({
    ...given,
    tokens: logins.tokens,
    folder: join(ownDir, 'upstreams'),
    searchPath: commandEnvironment['PATH'] ?? '',
    version,
  })
  const table = new ToolTable({ ...given, host })
  for (const row of await given.storage.upstreams.list()) await table.offer(readRow(row))
  return { host, logins, table }
}

/** Takes the data directory for this process, and returns the id that its store must have. */
const enter = async (
  dataDir: string,
  store: ReturnType<typeof storeOf>,
  opening: Disposal,
  beforeCreating: ComposeOptions['beforeCreating'],
): Promise<string | null> => {
  // Twice: what does not match is refused before anything is written, and what another process created meanwhile
  // is seen once this one has the lock.
  recordedStore(dataDir, store)
  const lock = () => {
    opening.use(lockDataDirectory(dataDir, () => holderPid(dataDir)))
    writePid(dataDir)
  }
  const locked = isInstalled(dataDir)
  if (locked) lock()
  await beforeCreating?.()
  openDataDirectory(dataDir)
  if (!locked) lock()
  return recordedStore(dataDir, store)
}

const idsOf = ({ ids }: Overrides): Ids => ids ?? createIds()

/** The one place that names concrete classes. Opens in order, and closes in the reverse order. */
export async function compose(
  settings: Settings,
  log: Log,
  { runsApproved = true, moves, beforeCreating, gates = null, scrubber, output }: ComposeOptions,
  overrides: Overrides = {},
): Promise<Composition> {
  const { data_dir: dataDir } = settings
  const gatePlace = new GatePlace(dataDir, gates)
  const { folder: ownDir } = gatePlace
  const adapters = adaptersFor(settings, overrides)
  await using opening = new Disposal()
  const store = storeOf(settings)
  const expectedId = await gatePlace.enter(opening, {
    enter: () => enter(dataDir, store, opening, beforeCreating),
    recorded: () => recordedStore(dataDir, store),
  })

  const ids = idsOf(overrides)
  const digest = createDigest()
  const node = nodeName(ownDir)
  const auditFolder = join(ownDir, logFolder)
  const databaseFile = join(dataDir, 'gatehouse.db')
  const workspacesFolder = makeWorkspaces(overrides.workspaces ?? join(dataDir, 'workspaces'))
  const at = { file: databaseFile, expectedId, moves, gates, workspacesFolder }
  const storage = opening.use(await openStorage(settings, at, overrides))
  const place = `${hostname()}:${ownDir}`
  await assertOwnName({ storage }, { node, place })
  const logFiles = new LogFiles(auditFolder)
  const clock = overrides.clock ?? (await clockAfter(storage, logFiles))
  answerLimits({ gates, storage, clock })
  await gatePlace.begin(storage, clock.wall(), () =>
    recordStore(dataDir, { engine: store.engine, store_id: storage.id, version }),
  )
  const tracing = await openTracing({ env: process.env, version, log })
  if (tracing) opening.use(tracing)
  const logPlace: LogPlace = {
    directory: auditFolder,
    chain: node,
    url: verifierUrl(settings),
    dataDir,
    helpers: verifyingHelpers(runsApproved),
  }
  const verifier = opening.use(
    new VerifierThread({ program: programOf('verify-log'), place: logPlace, clock }),
  )
  let exported: RunningExports | null = null
  const policyShare = createPolicyShare(dataDir)
  const auditLog = opening.use(
    await openAuditLog({
      storage,
      sharedKey: () => policyShare.key(),
      directory: auditFolder,
      files: logFiles,
      siblings: gatePlace.siblings(),
      chain: node,
      ids,
      clock,
      log,
      checkpoint: { copy: gatePlace.checkpointCopy(settings) },
      durable: settings['audit.durable'],
      retention: retentionOf(settings, () => exported?.positions() ?? []),
      exportFailure: () => exported?.failure() ?? null,
      ...verificationOf(runsApproved, verifier, overrides),
    }),
  )

  await gatePlace.recordIdle(storage)
  gatePlace.answer(auditLog)
  const { secrets, vault } = opening.use(
    await openVault({
      storage,
      auditLog,
      clock,
      ids,
      log,
      scrubber,
      keyFile: join(dataDir, 'vault.key'),
      kdf: overrides.kdf,
    }),
  )

  const registry = overrides.registry ?? createRegistry(standardCapabilities)
  const sandbox =
    overrides.sandbox ??
    openSandbox(settings, { folder: ownDir, workspaces: workspacesFolder }, log, opening)
  const ownPorts = new Set([settings.gateway_port, settings.user_api_port, settings.dashboard_port])
  const outbound =
    overrides.outbound ??
    createOutbound(settings, {
      ownPorts: () => new Set([...ownPorts, ...app.listeners.ports]),
    })
  exported = opening.use(
    createAuditExports({
      targets: settings['audit.targets'],
      ...{ source: auditLog.exportSource, outbound, secrets, clock, log, node },
      folder: join(ownDir, 'witnesses'),
      environment: settings.commandEnvironment,
      runs: runsApproved,
    }),
  )
  const files = opening.use(
    createFilesFactory({
      ids,
      clock,
      denyHardlinks: settings['files.deny_hardlinks'],
      own: dataDir,
      onSweepError: (cause) => log.warn({ err: cause }, 'left-over files could not be removed'),
    }),
  )
  // Before policy is read: its rules name these tools.
  const upstreams = await openUpstreams(settings, ownDir, {
    ...{ storage, registry, digest, sandbox, outbound, secrets, clock, node, files },
    call: (call, context) => app.callUpstream(call, context),
  })
  const policy = opening.use(
    await openPolicySource({
      directory: join(dataDir, 'policies'),
      registry,
      log,
    }),
  )
  // Known before the first program is asked for; a service that only keeps data needs none.
  if (runsApproved) void sandbox.probe()
  const wakeCommands = opening.use(
    createWakeCommands({
      commands: settings.on_wake,
      environment: settings.commandEnvironment,
      folder: dataDir,
      log,
    }),
  )
  const processHost = opening.use(
    await createProcessHost({
      sandbox,
      outbound,
      clock,
      folder: join(ownDir, 'processes'),
      scrub: (chunks) => secrets.scrubStream(chunks),
    }),
  )
  const stopping = new AbortController()
  // Waiting callers listen to it: as many as there are waits, and each leaves with its own.
  setMaxListeners(0, stopping.signal)
  const events = createEventBus({ ids, clock, log, gates })
  const parts: AppDeps = {
    storage,
    auditLog,
    audit: auditLog,
    auditExports: exported,
    clock,
    ids,
    digest,
    log,
    events,
    nodeEvents: events,
    gates,
    version,
    node,
    modelsNode: nodeName(dataDir),
    place,
    keyFiles: createNodeKeyFiles(dataDir),
    policyShare,
    registry,
    policy,
    files,
    host: createHost(dataDir),
    tracing: tracing ?? undefined,
    passwords: createPasswords(),
    secrets,
    vault,
    calendar: createCalendar(),
    outbound,
    sandbox,
    processHost,
    toolSearch: createToolSearch(registry),
    git: createGit({
      sandbox,
      outbound,
      secrets,
      folder: join(ownDir, 'git'),
      configAllowed: settings['git.config_allowed'],
      plainTargets: settings['outbound.private_targets'],
      caFile: settings['outbound.ca_file'],
    }),
    models: {
      files: createModelFiles({
        folder: join(dataDir, 'models'),
        outbound,
        mirrors: settings['models.mirrors'],
      }),
      source: createCatalogSource({
        url: settings['catalog.url'],
        file: join(dataDir, 'models', 'catalog.json'),
        outbound,
      }),
    },
    engine: engineOf(settings, sandbox, ownDir),
    upstreams,
    adapters,
    wakeCommands,
    notifier: createNotifier(settings.notifications, () => clock.wall(), {
      assertsSecrets: runsApproved,
    }),
    backups: createBackups({
      dataDir: ownDir,
      version,
      node,
      engine: storage.engine,
      siteFile,
      copyLog: (folder) => auditLog.copyTo(folder),
      gates: gatePlace.toCopy,
      copyDatabase: storage.isNetworked
        ? null
        : async (file) => {
            await storage.flush()
            await copyRunning(databaseFile, file)
          },
    }),
    settings,
    metrics: createMetrics({
      version,
      node,
      isCapability: (name) => registry.find(name) !== null,
      droppedLogLines: () => output.dropped,
    }),
    memory: new MemoryBudget(heldBytesFor()),
    droppedLogLines: () => output.dropped,
    workspaces: openWorkspaces(workspacesFolder, storage.isNetworked),
    runsApproved,
    signal: stopping.signal,
  }
  const app = createApp(overrides.parts?.(parts) ?? parts)
  opening.defer(async () => {
    stopping.abort()
    await app.stopped()
  })

  const closing = opening.move()
  return {
    app,
    ids,
    log,
    storage,
    node,
    async prepareCliToken() {
      const known = readCliToken(dataDir)
      if (known !== null) return known
      const op = systemOp({ ids, signal: stopping.signal })
      const { token } = await app.createUserToken(op, { label: 'cli', role: 'operator' })
      writePrivateFile(cliTokenFile(dataDir), `${token}\n`)
      return token
    },
    async prepareFirstAgent() {
      if ((await storage.meta.get(servedKey)) !== null) return null
      const op = systemOp({ ids, signal: stopping.signal })
      const token = settings.first_agent ? await createFirstAgent(op, app) : null
      await storage.meta.set(servedKey, 'yes')
      return token
    },
    [Symbol.asyncDispose]: () => closing[Symbol.asyncDispose](),
  }
}
