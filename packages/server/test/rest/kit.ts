import type { Role } from '@gatehouse/contract'
import type { Kit } from '@gatehouse/testkit'
import { CountedIds } from '@gatehouse/testkit/counted-ids'
import {
  type Installation,
  type InstallationOptions,
  openInstallation,
} from '@gatehouse/testkit/installation/installation'
import { password } from '@gatehouse/testkit/installation/seeds'
import { type WatchedApp, watchApp } from '@gatehouse/testkit/watched-app'
import { afterAll, beforeAll } from 'vitest'
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

export type RestKit = AsyncDisposable &
  Pick<WatchedApp, 'calls' | 'listeners'> & {
    readonly kit: Kit
    readonly tokens: Installation['tokens']
    readonly rest: RestApp
    readonly options: RestOptions
    /** Everything that was logged, as one text. */
    readonly logged: string[]
    call(method: string, path: string, call?: Call): Promise<Answered>
    /** A visit of ana, who has logged in. */
    logIn(): Promise<RestVisit>
    /** Another request that waits for a person: its id. */
    ask(subject: string): Promise<string>
    statusOf(agent: string): Promise<string>
  }

const logTo = (logged: string[]): Log => {
  const note = (facts: object, message: string) => {
    const { err } = facts as { err?: unknown }
    logged.push(`${message} ${JSON.stringify(facts)} ${String(err)}`)
  }
  return { debug: note, info: note, warn: note, error: note }
}

/** Answer to one request, as far as it is there. */
const readAnswer = async (response: Response): Promise<Answered> => {
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.includes('json') && text !== ''
  return {
    status: response.status,
    headers: response.headers,
    body: isJson && !text.includes('\n') ? JSON.parse(text) : { text },
  }
}

const requestOf = (
  method: string,
  path: string,
  { headers = {}, body }: Call,
  token: string | undefined,
): Request =>
  new Request(`http://gatehouse.localhost${path}`, {
    method,
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })

/** One for all tests of a file that change nothing. */
export const useRestKit = (...given: Parameters<typeof openRestKit>): (() => RestKit) => {
  let opened: RestKit | null = null
  beforeAll(async () => {
    opened = await openRestKit(...given)
  })
  afterAll(() => opened?.[Symbol.asyncDispose]())
  return () => {
    if (!opened) throw new Error('the kit is not open')
    return opened
  }
}

/** The routes before a service in which there is one of everything. */
export async function openRestKit(
  given: InstallationOptions = {},
  settings: Partial<RestOptions> = {},
): Promise<RestKit> {
  const installation = await openInstallation(given)
  const { kit, tokens } = installation
  const { app, calls, listeners } = watchApp(kit.app)
  const logged: string[] = []
  const log = logTo(logged)
  const options = { app, version: '1.2.3', ids: new CountedIds(), log, ...settings }
  const rest = createRestApp(options)
  return {
    kit,
    tokens,
    rest,
    options,
    logged,
    calls,
    listeners,
    async call(method, path, call = {}) {
      const token = call.role && tokens[call.role]
      return readAnswer(await rest.fetch(requestOf(method, path, call, token), call.visit))
    },
    async logIn() {
      const { id } = await kit.app.login(kit.operator(), { password, address: '127.0.0.1' })
      const login = await kit.app.authenticateWebSession(id)
      if (!login) throw new Error('there is no login')
      return { actor: login.actor, login }
    },
    ask: (subject) =>
      kit.pending('mailbot', 'email.send', { to: ['ana@example.com'], subject, body: 'Hi Ana' }),
    statusOf: async (name) => (await kit.app.showAgent(kit.operator(), { name })).status,
    [Symbol.asyncDispose]: () => installation[Symbol.asyncDispose](),
  }
}
