import type { RestApp, RestOptions } from './create-rest-app.ts'

/** The REST API, made with its first request: the routes and their schemas are a large part of a start. */
export const lazyRestApp = (options: RestOptions): RestApp => {
  let rest: Promise<RestApp> | undefined
  const make = async (): Promise<RestApp> =>
    (await import('./create-rest-app.ts')).createRestApp(options)
  return {
    async fetch(request, visit) {
      rest ??= make()
      return (await rest).fetch(request, visit)
    },
  }
}
