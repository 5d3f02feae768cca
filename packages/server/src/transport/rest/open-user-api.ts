import { createServer } from 'node:http'
import type { RestOptions } from './create-rest-app.ts'
import { lazyRestApp } from './lazy-rest-app.ts'
import { openRestServer, type RestServerOptions, serverSettings } from './rest-server.ts'

export type UserApiOptions = RestOptions & RestServerOptions

export interface UserApi extends AsyncDisposable {
  readonly url: string
  close(): Promise<void>
}

/** Opens the REST API on a socket of this machine. */
export async function openUserApi(options: UserApiOptions): Promise<UserApi> {
  const rest = lazyRestApp(options)
  const server = await openRestServer(
    options,
    (listener) => createServer(serverSettings, listener),
    rest.fetch,
  )
  return { ...server, url: `http://${server.address}` }
}
