import type { Agent, Approval, Role } from '@gatehouse/contract'
import { type Route, type RouteName, routes } from '@gatehouse/contract/routes'
import { CountedIds } from '@gatehouse/testkit/counted-ids'
import type {
  Installation,
  InstallationOptions,
} from '@gatehouse/testkit/installation/installation'
import { type WatchedApp, watchApp } from '@gatehouse/testkit/watched-app'
import type { RestApp } from '../../server/src/transport/rest/create-rest-app.ts'
import type { Connect } from '../src/connect.ts'
import type { Io, KeyPress, Output } from '../src/io.ts'
import { run } from '../src/run.ts'

type Screen = Output & { text(): string }

function createScreen(
  isTTY: boolean,
  columns: number,
  onWrite: (text: string) => void = () => undefined,
): Screen {
  let all = ''
  return {
    isTTY,
    columns,
    async write(text) {
      all += text
      onWrite(text)
    },
    text: () => all,
  }
}

// Output must not depend on the zone in which the tests run.
process.env.TZ = 'UTC'

export type Ran = { readonly code: number; readonly out: string; readonly err: string }

export type CliKit = {
  /** The operations of the server that were asked for, in order. */
  readonly operations: RouteName[]
  /** Bodies of the requests of one operation, in order. */
  sentTo(operation: RouteName): readonly unknown[]
  /** Role of the token that this command line uses. */
  role: Role
  /** The service that answers, for a test that changes something in it or watches it. */
  open(): Promise<Service>
  /** Another request for a mail, which waits for a person: its id. */
  ask(subject: string, change?: object): Promise<string>
  approval(id: string): Promise<Approval>
  agent(name: string): Promise<Agent>
  gatehouse(line: readonly string[], terminal?: Terminal): Promise<Ran>
}

type Service = Installation & WatchedApp

export type Terminal = {
  readonly columns?: number
  readonly input?: string
  readonly answer?: string
  /** Keys as they come; a text stands for one pressed a while after everything else. */
  readonly keys?: AsyncIterable<string | KeyPress>
  readonly nowMs?: () => number
  readonly onWrite?: (text: string) => void
  /** Before each request to the server. */
  readonly onRequest?: () => void
  readonly signal?: AbortSignal
  readonly connect?: Connect
  /** No server runs: the same routes answer in this process. */
  readonly offline?: boolean
  readonly env?: Record<string, string>
  readonly program?: string
}

const patterns = Object.entries<Route>(routes).map(([name, { method, path }]) => ({
  name: name as RouteName,
  pattern: new RegExp(`^${method} ${path.replaceAll('.', '\\.').replaceAll(/:\w+/g, '[^/]+')}$`),
}))

// Of two that fit the earlier is meant, as at the server.
const operationOf = (method: string, url: string): RouteName | undefined =>
  patterns.find(({ pattern }) => pattern.test(`${method} ${new URL(url).pathname}`))?.name

const openService = async (options: InstallationOptions): Promise<Service> => {
  const { openInstallation } = await import('@gatehouse/testkit/installation/installation')
  const installation = await openInstallation(options)
  return { ...installation, ...watchApp(installation.kit.app) }
}

/** A service in which nothing was changed: lines that only read share it. */
let unchanged: Promise<Service> | null = null
const changed: Promise<Service>[] = []

/** After each test: what it changed is of no use to another. */
export const closeChanged = async (): Promise<void> => {
  for (const service of changed.splice(0)) await (await service)[Symbol.asyncDispose]()
}

/** After each file. */
export const closeUnchanged = async (): Promise<void> => {
  const last = unchanged
  unchanged = null
  await (await last)?.[Symbol.asyncDispose]()
}

const createRest = async ({ app }: Service): Promise<RestApp> => {
  const { createRestApp } = await import('../../server/src/transport/rest/create-rest-app.ts')
  const silent = () => undefined
  const log = { debug: silent, info: silent, warn: silent, error: silent }
  return createRestApp({ app, version: '1.2.3', ids: new CountedIds(), log })
}

/** Runs command lines in process, against the real routes of a service in which there is one of everything. */
export function createCliKit(options?: InstallationOptions): CliKit {
  let service: Promise<Service> | null = null
  let rest: Promise<RestApp> | null = null
  const bodies: (readonly [RouteName, string])[] = []
  const toRead = (): Promise<Service> =>
    (service ??= options ? openService(options) : (unchanged ??= openService({})))
  const toChange = (): Promise<Service> => {
    const mine = toRead()
    if (mine === unchanged) unchanged = null
    if (!changed.includes(mine)) changed.push(mine)
    return mine
  }
  const kit: CliKit = {
    operations: [],
    sentTo: (operation) =>
      bodies.filter(([name]) => name === operation).map(([, body]) => JSON.parse(body) as unknown),
    role: 'operator',
    open: toChange,
    async ask(subject, change) {
      const { kit: given } = await toChange()
      const mail = { to: ['ana@example.com'], subject, body: 'Hi Ana', ...change }
      return given.pending('mailbot', 'email.send', mail)
    },
    async approval(approval_id) {
      const { kit: given } = await toRead()
      return given.app.showApproval(given.operator(), { approval_id })
    },
    async agent(name) {
      const { kit: given } = await toRead()
      return given.app.showAgent(given.operator(), { name })
    },
    async gatehouse(line, terminal = {}) {
      const isTTY = terminal.columns !== undefined
      let pressedMs = 0
      const stdout = createScreen(isTTY, terminal.columns ?? 80, terminal.onWrite)
      const stderr = createScreen(isTTY, terminal.columns ?? 80, terminal.onWrite)
      const io: Io = {
        stdout,
        stderr,
        stdin: {
          isTTY,
          readAll: async () => terminal.input ?? '',
          async *chunks() {
            yield Buffer.from(terminal.input ?? '')
          },
          async ask(question) {
            await stderr.write(question)
            return terminal.answer ?? ''
          },
          async *keys() {
            for await (const key of terminal.keys ?? []) {
              pressedMs += 10_000
              yield typeof key === 'string' ? { text: key, atMs: pressedMs } : key
            }
          },
        },
        program: terminal.program ?? 'gatehouse',
        self: ['/usr/bin/node', '/usr/bin/gatehouse'],
        env: { HOME: '/home/ana', NO_COLOR: '1', ...terminal.env },
        signal: terminal.signal ?? new AbortController().signal,
        nowMs: terminal.nowMs ?? (() => pressedMs),
      }
      const connect: Connect = async ({ places }) => ({
        dataDir: places.dirs[0],
        run: terminal.offline
          ? null
          : {
              pid: 4711,
              version: '1.2.3',
              started_at: '2026-03-01T12:00:00.000Z',
              gateway_url: 'http://127.0.0.1:7700',
              mcp_url: 'ws://127.0.0.1:7700/mcp',
              user_api_url: 'http://127.0.0.1:7703',
              dashboard_url: 'https://127.0.0.1:7800',
              wake_port: 7702,
            },
        async fetch(url, init) {
          terminal.onRequest?.()
          const operation = operationOf(init.method, url)
          if (operation) kit.operations.push(operation)
          if (operation && typeof init.body === 'string') bodies.push([operation, init.body])
          const asked = init.method === 'GET' ? toRead() : toChange()
          rest ??= asked.then(createRest)
          const { fetch } = await rest
          const { tokens } = await asked
          const authorization = `Bearer ${tokens[kit.role]}`
          const headers = { ...init.headers, authorization }
          const request = new Request(url, { ...init, headers })
          // A request that is collected no longer passes its caller's abort on, and a stream that is
          // read outlives it: whatever can abort holds it. A socket has no such gap.
          init.signal?.addEventListener('abort', () => void request, { once: true })
          return fetch(request)
        },
        [Symbol.asyncDispose]: () => Promise.resolve(),
      })
      const code = await run(line, io, terminal.connect ?? connect)
      // To the command line a service that could not be opened is one that does not answer.
      await rest
      return { code, out: stdout.text(), err: stderr.text() }
    },
  }
  return kit
}
