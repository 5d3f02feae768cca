import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { RunFile } from '@gatehouse/contract'
import type { Fetch } from '@gatehouse/rest-client'
import { CliError } from './cli-error.ts'
import type { DataPlaces } from './data-places.ts'
import { exitCodes } from './exit-codes.ts'
import { httpFetch } from './http-fetch.ts'
import { isAlive, readCliToken, readRunFile } from './run-file.ts'

/** The data, by way of the running server (`run` says which), or in this process while none runs. */
export interface Connection extends AsyncDisposable {
  readonly dataDir: string
  readonly run: RunFile | null
  readonly fetch: Fetch
  /** The data directory was created by this command. */
  readonly isNew?: true
}

export type ConnectInput = {
  readonly places: DataPlaces
  readonly configFile: string | undefined
  /** Whether only a running server will do. */
  readonly serverOnly: boolean
  readonly withoutData?: WithoutData
}

/**
 * A command that also works where there is no data yet: `begins` creates it, `temporary` works on data of its
 * own, which it deletes. Every other command creates nothing.
 */
export type WithoutData = 'begins' | 'temporary'
export type Connect = (input: ConnectInput) => Promise<Connection>

/** The address that requests of this process are written to; only their path counts. */
export const placeholderUrl = 'http://gatehouse.localhost'

/** The first request to a service loads what serves it: on a busy machine that takes seconds. */
const probeTimeoutMs = 15_000

const silent = (run: RunFile, cause: unknown): CliError =>
  new CliError(
    'NotReachable',
    exitCodes.notReachable,
    `The server (process ${run.pid}) does not answer at ${run.user_api_url}.`,
    {
      cause,
      recovery: [
        { action: 'gatehouse doctor', description: 'See what is wrong.' },
        { action: `kill ${run.pid}`, description: 'End it if it hangs, and start it again.' },
      ],
    },
  )

export const withPath = (base: string, url: string): string => {
  const { pathname, search } = new URL(url)
  return `${base.replace(/\/$/, '')}${pathname}${search}`
}

/** The server that runs on this data, if one does. Raises `NotReachable` for one that hangs. */
export async function findServer(
  dataDir: string,
): Promise<(Connection & { readonly run: RunFile }) | null> {
  const run = await readRunFile(dataDir)
  // A server that was killed leaves its file behind.
  if (!run || !isAlive(run.pid)) return null
  try {
    const signal = AbortSignal.timeout(probeTimeoutMs)
    const probe = { method: 'GET', headers: {}, signal }
    await (await httpFetch(`${run.user_api_url}/healthz`, probe)).text()
  } catch (cause) {
    throw silent(run, cause)
  }
  const token = await readCliToken(dataDir)
  return {
    dataDir,
    run,
    fetch: (url, init) =>
      httpFetch(withPath(run.user_api_url, url), {
        ...init,
        headers: { ...init.headers, authorization: `Bearer ${token}` },
      }),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  }
}

export const serverNeeded = (): CliError =>
  new CliError('NotRunning', exitCodes.notReachable, 'No server runs on this data directory.', {
    recovery: [
      { action: 'gatehouse serve', description: 'Start it.' },
      { action: '--data-dir DIR', description: 'Name the directory of a running server.' },
    ],
  })

const listed = (words: readonly string[]): string =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`

const nothingThere = ({ named, dirs }: DataPlaces, closed: ReadonlySet<string>): CliError => {
  const looked = dirs.map((dir) => (closed.has(dir) ? `${dir} (not open to this user)` : dir))
  return new CliError(
    'NoGatehouse',
    exitCodes.notReachable,
    `No Gatehouse here; looked in ${listed(looked)}.`,
    {
      recovery: [
        {
          action: '--data-dir DIR',
          description: named ? 'Name the directory of an existing one.' : 'Say where it is.',
        },
        ...(closed.size === 0
          ? []
          : [{ action: 'sudo', description: 'Run this as the user who runs the server.' }]),
        { action: 'gatehouse serve', description: 'Start a new one.' },
      ],
    },
  )
}

const isClosed = (error: unknown): boolean =>
  (error instanceof CliError && error.type === 'UnsafeFile') ||
  (error as NodeJS.ErrnoException).code === 'EACCES'

export type Found = { readonly dataDir: string; readonly server: Connection | null }

/**
 * The first place with a running server, else the first with data. Only reads. Raises `NoGatehouse` where there
 * is neither.
 */
export async function findData(places: DataPlaces): Promise<Found> {
  const { isInstalled } = await import('@gatehouse/server/platform/is-installed')
  const [first] = places.dirs
  const closed = new Set<string>()
  let stopped: string | null = null
  for (const dataDir of places.dirs)
    try {
      const server = await findServer(dataDir)
      if (server) return { dataDir, server }
      if (stopped === null && isInstalled(dataDir)) stopped = dataDir
    } catch (error) {
      // The first place's problem is reported; another user's service is no reason not to use one's own.
      if (dataDir === first || !isClosed(error)) throw error
      closed.add(dataDir)
    }
  if (stopped === null) throw nothingThere(places, closed)
  return { dataDir: stopped, server: null }
}

async function openHere(
  dataDir: string,
  { configFile, temporary = false }: { configFile?: string | undefined; temporary?: boolean },
): Promise<Connection> {
  const { openOffline } = await import('@gatehouse/server/offline')
  const offline = await openOffline({
    dataDir,
    temporary,
    ...(configFile ? { configFile } : {}),
  })
  return {
    dataDir,
    run: null,
    fetch: (url, init) =>
      offline.fetch(
        new Request(url, {
          ...init,
          headers: { ...init.headers, authorization: `Bearer ${offline.token}` },
        }),
      ),
    [Symbol.asyncDispose]: () => offline[Symbol.asyncDispose](),
  }
}

async function openTemporary(): Promise<Connection> {
  const dataDir = await mkdtemp(join(tmpdir(), 'gatehouse-'))
  const remove = () => rm(dataDir, { recursive: true, force: true })
  try {
    const opened = await openHere(dataDir, { temporary: true })
    return {
      ...opened,
      async [Symbol.asyncDispose]() {
        await opened[Symbol.asyncDispose]()
        await remove()
      },
    }
  } catch (error) {
    await remove()
    throw error
  }
}

const isNothing = (error: unknown): boolean =>
  error instanceof CliError && error.type === 'NoGatehouse'

/** How a command reaches the data: the same routes either way, so there is no second implementation. */
export const connect: Connect = async ({ places, configFile, serverOnly, withoutData }) => {
  try {
    const { dataDir, server } = await findData(places)
    if (server) return server
    if (serverOnly) throw serverNeeded()
    return await openHere(dataDir, { configFile })
  } catch (error) {
    if (!isNothing(error) || serverOnly || withoutData === undefined) throw error
    if (withoutData === 'begins')
      return { ...(await openHere(places.dirs[0], { configFile })), isNew: true }
    // A named place or configuration is meant.
    if (places.named || configFile !== undefined) throw error
    return openTemporary()
  }
}
