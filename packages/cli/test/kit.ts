import { type Route, type RouteName, routes } from '@gatehouse/contract/routes'
import { createFakeApp, type FakeApp, fakeTokens } from '@gatehouse/testkit/fake-app'
import { createRestApp } from '../../server/src/transport/rest/create-rest-app.ts'
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
  readonly fake: FakeApp
  /** The operations of the server that were asked for, in order. */
  readonly operations: RouteName[]
  /** Role of the token that this command line uses. */
  role: keyof typeof fakeTokens
  gatehouse(line: readonly string[], terminal?: Terminal): Promise<Ran>
}

export type Terminal = {
  readonly columns?: number
  readonly input?: string
  readonly answer?: string
  /** Keys as they come; a text stands for one pressed a while after everything else. */
  readonly keys?: AsyncIterable<string | KeyPress>
  readonly nowMs?: () => number
  readonly onWrite?: (text: string) => void
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

/** Runs command lines in process, against the real routes on the fake application. */
export function createCliKit(fake: FakeApp = createFakeApp()): CliKit {
  let requests = 0
  const silent = () => undefined
  const rest = createRestApp({
    app: fake.app,
    version: '1.2.3',
    ids: { next: (prefix) => `${prefix}-${String(++requests).padStart(26, '0')}` },
    log: { debug: silent, info: silent, warn: silent, error: silent },
  })
  const kit: CliKit = {
    fake,
    operations: [],
    role: 'operator',
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
      const authorization = `Bearer ${fakeTokens[kit.role]}`
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
        fetch(url, init) {
          const operation = operationOf(init.method, url)
          if (operation) kit.operations.push(operation)
          const headers = { ...init.headers, authorization }
          const request = new Request(url, { ...init, headers })
          // A request that is collected no longer passes its caller's abort on, and a stream that is
          // read outlives it: whatever can abort holds it. A socket has no such gap.
          init.signal?.addEventListener('abort', () => void request, { once: true })
          return rest.fetch(request)
        },
        [Symbol.asyncDispose]: () => Promise.resolve(),
      })
      const code = await run(line, io, terminal.connect ?? connect)
      return { code, out: stdout.text(), err: stderr.text() }
    },
  }
  return kit
}
