import { createServer } from 'node:http'
import type { RestApp, RestOptions } from './create-rest-app.ts'
import { openRestServer, type RestServerOptions, serverSettings } from './rest-server.ts'

export type UserApiOptions = RestOptions & RestServerOptions

export interface UserApi extends AsyncDisposable {
  readonly url: string
  close(): Promise<void>
}

/** Opens the REST API on a socket of this machine. */
export async function openUserApi(options: UserApiOptions): Promise<UserApi> {
  // Made with the first request: the routes and their schemas are a large part of a start.
  let rest: Promise<RestApp> | undefined
  const load = async (): Promise<RestApp> =>
    (await import('./create-rest-app.ts')).createRestApp(options)
  const server = await openRestServer(
    options,
    (listener) => createServer(serverSettings, listener),
    async (request, visit) => {
      rest ??= load()
      return (await rest).fetch(request, visit)
    },
  )
  return { ...server, url: `http://${server.address}` }
}
