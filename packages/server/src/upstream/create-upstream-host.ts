import { chmodSync, mkdirSync, realpathSync, statSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { delimiter, dirname, isAbsolute, join } from 'node:path'
import { GatehouseError, type UpstreamServer } from '@gatehouse/contract'
import type { FilesFactory, HeldFolder } from '../ports/files.ts'
import type { Egress, KeptOutbound, Outbound } from '../ports/outbound.ts'
import type { Sandbox, SandboxMount, SandboxSpec } from '../ports/sandbox.ts'
import type { Secrets } from '../ports/secrets.ts'
import type {
  UpstreamConnection,
  UpstreamHost,
  UpstreamOrder,
  UpstreamSchemas,
} from '../ports/upstream.ts'
import { HttpSession } from './http-session.ts'
import { failUnanswered } from './missing-answer.ts'
import { createWay, type Way } from './oauth/authorized-fetch.ts'
import { loadClient } from './oauth/load-client.ts'
import type { Tokens } from './oauth/tokens.ts'
import { PinnedCertificate } from './pinned-certificate.ts'
import { SandboxedTransport } from './sandboxed-transport.ts'

export type UpstreamHostOptions = {
  readonly sandbox: Sandbox
  readonly outbound: Outbound
  readonly secrets: Pick<Secrets, 'use'>
  /** Of servers that a person has logged in to. */
  readonly tokens: Tokens
  readonly files: Pick<FilesFactory, 'hold'>
  /** For the folders that the servers have for themselves. */
  readonly folder: string
  /** Where programs are looked for, as in the variable PATH. */
  readonly searchPath: string
  readonly version: string
  readonly connectMs?: number
}

const MiB = 1024 * 1024

/** A program may fetch what it needs before it answers for the first time. */
const connectMsDefault = 60_000

const lost = 'it does not know the session any more'

/** The stream on which a server tells things by itself is asked for as long as there is the connection. */
const reconnectionOptions = {
  initialReconnectionDelay: 1_000,
  maxReconnectionDelay: 60_000,
  reconnectionDelayGrowFactor: 2,
  maxRetries: Number.POSITIVE_INFINITY,
}

/** Folders that every program in the sandbox sees anyway. */
const ofTheSystem = /^\/(?:usr|bin|sbin|lib|lib32|lib64)\//

const failed = (name: string, detail: string, cause?: unknown): GatehouseError =>
  new GatehouseError('UpstreamFailed', { upstream: name, detail }, { cause })

const isProgram = (path: string): boolean => {
  const stat = statSync(path, { throwIfNoEntry: false })
  return stat !== undefined && stat.isFile() && (stat.mode & 0o111) !== 0
}

type Program = { readonly path: string; readonly mounts: readonly SandboxMount[] }

/** A program, and the folder of its installation where the sandbox would not show it. */
const findProgram = (name: string, command: string, searchPath: string): Program => {
  const found = isAbsolute(command)
    ? isProgram(command)
      ? command
      : undefined
    : searchPath
        .split(delimiter)
        .filter((folder) => isAbsolute(folder) && !command.includes('/'))
        .map((folder) => join(folder, command))
        .find(isProgram)
  if (found === undefined) throw failed(name, `there is no program ${command}`)
  if (ofTheSystem.test(realpathSync(found)) && ofTheSystem.test(found))
    return { path: found, mounts: [] }
  const installation = dirname(dirname(realpathSync(found)))
  // A program in a folder of nobody's, such as one in the home folder itself, shows that file alone.
  const isInstalled = dirname(realpathSync(found)) === join(installation, 'bin')
  const source = isInstalled ? installation : realpathSync(found)
  return { path: realpathSync(found), mounts: [{ source, writable: false }] }
}

/** Mounts in which none stands twice: what is granted outweighs what a program needs. */
const distinct = (mounts: readonly SandboxMount[]): SandboxMount[] => [
  ...new Map(mounts.map((mount) => [mount.target ?? mount.source, mount])).values(),
]

const prepareFolder = (path: string): string => {
  mkdirSync(path, { recursive: true, mode: 0o700 })
  chmodSync(path, 0o700)
  return realpathSync(path)
}

/** Connects to MCP servers: in the sandbox over their standard input and output, elsewhere over HTTP. */
class Host implements UpstreamHost {
  readonly #options: UpstreamHostOptions

  constructor(options: UpstreamHostOptions) {
    this.#options = options
  }

  async connect(order: UpstreamOrder, signal: AbortSignal): Promise<UpstreamConnection> {
    const { server } = order.config
    return server.kind === 'stdio'
      ? this.#connectProgram(order, server, signal)
      : this.#connectUrl(order, server.url, signal)
  }

  async forget(name: string): Promise<void> {
    await rm(join(this.#options.folder, name), { recursive: true, force: true })
  }

  async schemas(): Promise<UpstreamSchemas> {
    return { compile: (await import('./argument-schema.ts')).compileSchema }
  }

  async #connectProgram(
    order: UpstreamOrder,
    server: Extract<UpstreamServer, { kind: 'stdio' }>,
    signal: AbortSignal,
  ): Promise<UpstreamConnection> {
    try {
      return await this.#startProgram(order, server, 'legacy', signal)
    } catch (cause) {
      // A server of the modern era alone refuses to be initialized.
      const inner = (cause as { readonly cause?: { readonly code?: unknown } }).cause
      if (signal.aborted || (inner?.code !== -32_601 && inner?.code !== -32_022)) throw cause
      return await this.#startProgram(order, server, 'auto', signal)
    }
  }

  async #startProgram(
    order: UpstreamOrder,
    server: Extract<UpstreamServer, { kind: 'stdio' }>,
    mode: 'legacy' | 'auto',
    signal: AbortSignal,
  ): Promise<UpstreamConnection> {
    const { sandbox, outbound, version } = this.#options
    // Without a host too: what it asks for and may not reach is worth knowing.
    const egress = await outbound.openEgress(order.config.grants.hosts)
    const dispose = async () => egress[Symbol.asyncDispose]()
    const hostsRefused = () => egress.refused().map(({ host, port }) => `${host}:${port}`)
    try {
      using folders = this.#hold(order)
      const spec = await this.#specOf(order, server, { egress, folders: folders.mounts })
      const transport = new SandboxedTransport(await sandbox.spawn(spec))
      const { SdkConnection } = await import('./sdk-connection.ts')
      return await SdkConnection.open(
        {
          name: order.name,
          shared: order.agent === null,
          version,
          transport,
          mode,
          connectMs: this.#options.connectMs ?? connectMsDefault,
          reason: () => transport.reason,
          heard: () => heardFrom(transport.lastSaid, hostsRefused()),
          hostsRefused,
          certificate: () => null,
          dispose,
        },
        signal,
      )
    } catch (cause) {
      await dispose()
      throw cause
    }
  }

  /** The folders that a person gave to the server, each held open until they are mounted. */
  #hold({ name, config }: UpstreamOrder): Disposable & { readonly mounts: SandboxMount[] } {
    const held: HeldFolder[] = []
    const release = () => {
      for (const folder of held) folder[Symbol.dispose]()
    }
    try {
      const mounts = config.grants.folders.map(({ path, read_only }) => {
        const folder = this.#options.files.hold(path)
        held.push(folder)
        return { source: folder.source, target: path, writable: !read_only }
      })
      return { mounts, [Symbol.dispose]: release }
    } catch (cause) {
      release()
      throw cause instanceof GatehouseError ? failed(name, cause.message, cause) : cause
    }
  }

  async #specOf(
    order: UpstreamOrder,
    { command, args }: Extract<UpstreamServer, { kind: 'stdio' }>,
    { egress, folders }: { readonly egress: Egress; readonly folders: readonly SandboxMount[] },
  ): Promise<SandboxSpec> {
    const { folder, searchPath } = this.#options
    const { grants } = order.config
    const program = findProgram(order.name, command, searchPath)
    // Agents can't be called "shared", so no agent's folder is everybody's.
    const home = prepareFolder(join(folder, order.name, order.agent ?? 'shared'))
    return {
      program: program.path,
      args,
      environment: {
        HOME: home,
        PATH: `${dirname(program.path)}:/usr/local/bin:/usr/bin:/bin`,
        ...grants.environment,
        ...(await this.#credentials(order, null)),
      },
      working_directory: home,
      mounts: distinct([...program.mounts, ...folders, { source: home, writable: true }]),
      network: { kind: 'egress', socket: egress.socket },
      limits: {
        memory_bytes: 4096 * MiB,
        processes: 256,
        cpu_seconds: 100_000_000,
        file_bytes: 1024 * MiB,
        temporary_bytes: 512 * MiB,
      },
    }
  }

  async #connectUrl(order: UpstreamOrder, given: string, signal: AbortSignal) {
    const url = new URL(given)
    const pin = new PinnedCertificate(order.name, order.certificate)
    const kept = this.#options.outbound.keepConnections(url.href, (found) => pin.check(found))
    try {
      return await this.#connectOver({ kept, pin }, order, url, signal)
    } catch (cause) {
      kept[Symbol.dispose]()
      throw signal.aborted ? cause : (pin.refusal ?? cause)
    }
  }

  async #connectOver(
    { kept, pin }: { readonly kept: KeptOutbound; readonly pin: PinnedCertificate },
    order: UpstreamOrder,
    url: URL,
    signal: AbortSignal,
  ) {
    const way = await this.#wayTo(kept, order, url, signal)
    try {
      const connection = await this.#openUrl(order, url, { way, pin }, signal)
      void connection.closed.then(() => kept[Symbol.dispose]())
      way.onFailure(() => void connection.close())
      pin.onRefusal(() => void connection.close())
      return connection
    } catch (cause) {
      throw signal.aborted ? cause : (way.failure() ?? cause)
    }
  }

  async #wayTo(
    kept: KeptOutbound,
    order: UpstreamOrder,
    url: URL,
    signal: AbortSignal,
  ): Promise<Way> {
    const { outbound, tokens } = this.#options
    const { name, access } = order
    const credentials = await this.#credentials(order, url.host)
    const login = access.logged_in ? { name, agent: access.owner } : null
    if (login) await tokens.open(login, url.href)
    return createWay({ outbound, kept, tokens, name, url, credentials, login, signal })
  }

  async #openUrl(
    { name, agent }: UpstreamOrder,
    url: URL,
    { way, pin }: { readonly way: Way; readonly pin: PinnedCertificate },
    signal: AbortSignal,
  ) {
    const { version, connectMs = connectMsDefault } = this.#options
    const { StreamableHTTPClientTransport, SSEClientTransport } = await loadClient()
    const { SdkConnection } = await import('./sdk-connection.ts')
    const openingIn = (session: HttpSession) => ({
      ...{ name, version, connectMs, shared: agent === null, session },
      reason: () => detailOf(pin.refusal ?? way.failure()) ?? (session.isForgotten ? lost : null),
      heard: () => [],
      hostsRefused: () => [],
      certificate: () => pin.found,
      dispose: async () => {},
    })
    try {
      const session = new HttpSession(way.fetch, 'streamable')
      const { fetch } = session
      const transport = failUnanswered(
        new StreamableHTTPClientTransport(url, { fetch, reconnectionOptions }),
      )
      const leave = () => transport.terminateSession()
      const opening = openingIn(session)
      return await SdkConnection.open({ ...opening, transport, leave, mode: 'auto' }, signal)
    } catch (cause) {
      const status = statusOf(cause)
      if (signal.aborted || (status !== 404 && status !== 405 && status !== 400)) throw cause
      // Servers of 2024 know another way.
      const session = new HttpSession(way.fetch, 'sse')
      const transport = new SSEClientTransport(url, { fetch: session.fetch })
      const opening = openingIn(session)
      return await SdkConnection.open({ ...opening, transport, mode: 'legacy' }, signal).catch(
        () => {
          throw cause
        },
      )
    }
  }

  /** Values of the secrets, as the server wants them; each use is in the log. */
  async #credentials(
    { name, access }: UpstreamOrder,
    host: string | null,
  ): Promise<Record<string, string>> {
    const values: Record<string, string> = {}
    for (const [key, secret] of Object.entries(access.credentials)) {
      const use = {
        name: secret,
        agent: access.owner,
        capability: `service:upstream.${name}`,
        host,
      }
      await this.#options.secrets.use(use, async (value) => {
        values[host === null ? key : key.toLowerCase()] = value
      })
    }
    return values
  }
}

const detailOf = (failure: GatehouseError | null): string | null => {
  const detail = failure?.facts['detail']
  return typeof detail === 'string' ? detail : (failure?.message ?? null)
}

const heardFrom = (said: string | null, hosts: readonly string[]): string[] => [
  ...(said === null ? [] : [`It said: ${said}`]),
  ...(hosts.length === 0 ? [] : [`It asked for ${hosts.join(', ')}, which it may not reach`]),
]

const statusOf = (cause: unknown): number | null => {
  for (let at: unknown = cause; typeof at === 'object' && at !== null; ) {
    const {
      status,
      data,
      cause: inner,
    } = at as {
      readonly status?: unknown
      readonly data?: { readonly status?: unknown }
      readonly cause?: unknown
    }
    const found = typeof status === 'number' ? status : data?.status
    if (typeof found === 'number') return found
    at = inner
  }
  return null
}

export const createUpstreamHost = (options: UpstreamHostOptions): UpstreamHost => new Host(options)
