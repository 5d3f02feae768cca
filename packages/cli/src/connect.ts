import type { Fetch } from '@gatehouse/client'
import type { RunFile } from '@gatehouse/contract'
import { CliError } from './cli-error.ts'
import { exitCodes } from './exit-codes.ts'
import { httpFetch } from './http-fetch.ts'
import { isAlive, readCliToken, readRunFile } from './run-file.ts'

/** The data, by way of the running server (`run` says which), or in this process while none runs. */
export interface Connection extends AsyncDisposable {
  readonly run: RunFile | null
  readonly fetch: Fetch
}

export type ConnectInput = {
  readonly dataDir: string
  readonly configFile: string | undefined
  /** Whether only a running server will do. */
  readonly serverOnly: boolean
}
export type Connect = (input: ConnectInput) => Promise<Connection>

/** The address that requests of this process are written to; only their path counts. */
export const placeholderUrl = 'http://gatehouse.localhost'

const probeTimeoutMs = 3_000

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
export async function findServer(dataDir: string): Promise<Connection | null> {
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
      { action: '--data-dir DIR', description: 'Name the directory of one that runs.' },
    ],
  })

/** How a command reaches the data: the same routes either way, so there is no second implementation. */
export const connect: Connect = async ({ dataDir, configFile, serverOnly }) => {
  const server = await findServer(dataDir)
  if (server) return server
  if (serverOnly) throw serverNeeded()
  const { openOffline } = await import('@gatehouse/server/offline')
  const offline = await openOffline({ dataDir, ...(configFile ? { configFile } : {}) })
  return {
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
