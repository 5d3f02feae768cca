import type { Role } from '@gatehouse/contract'
import { createFakeApp, type FakeApp, fakeTokens } from '@gatehouse/testkit/fake-app'
import type { App } from '../../src/app/app.ts'
import type { Log } from '../../src/ports/log.ts'
import {
  createRestApp,
  type RestApp,
  type RestOptions,
  type RestVisit,
} from '../../src/transport/rest/create-rest-app.ts'

export type Call = {
  readonly role?: Role
  readonly headers?: Record<string, string>
  readonly body?: unknown
  readonly visit?: RestVisit
}

export type Answered = {
  readonly status: number
  readonly headers: Headers
  readonly body: Record<string, unknown>
}

export type RestKit = {
  readonly fake: FakeApp
  readonly rest: RestApp
  readonly options: RestOptions
  /** Everything that was logged, as one text. */
  readonly logged: string[]
  call(method: string, path: string, call?: Call): Promise<Answered>
}

export function createRestKit(
  override: Partial<App> = {},
  settings: Partial<RestOptions> = {},
): RestKit {
  const fake = createFakeApp(override)
  const logged: string[] = []
  const note = (facts: object, message: string) => {
    const { err } = facts as { err?: unknown }
    logged.push(`${message} ${JSON.stringify(facts)} ${String(err)}`)
  }
  const log: Log = { debug: note, info: note, warn: note, error: note }
  let requests = 0
  const ids = { next: (prefix: string) => `${prefix}-${String(++requests).padStart(26, '0')}` }
  const options = { app: fake.app, version: '1.2.3', ids, log, ...settings }
  const rest = createRestApp(options)
  return {
    fake,
    rest,
    options,
    logged,
    async call(method, path, { role, headers = {}, body, visit } = {}) {
      const response = await rest.fetch(
        new Request(`http://gatehouse.localhost${path}`, {
          method,
          headers: {
            ...(role ? { authorization: `Bearer ${fakeTokens[role]}` } : {}),
            ...(body === undefined ? {} : { 'content-type': 'application/json' }),
            ...headers,
          },
          ...(body === undefined
            ? {}
            : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
        }),
        visit,
      )
      const text = await response.text()
      const isJson = response.headers.get('content-type')?.includes('json') && text !== ''
      return {
        status: response.status,
        headers: response.headers,
        body: isJson && !text.includes('\n') ? JSON.parse(text) : { text },
      }
    },
  }
}
