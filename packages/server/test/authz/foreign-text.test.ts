import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Route, routes } from '@gatehouse/contract/routes'
import { createKit, type Kit } from '@gatehouse/testkit'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { createRegistry } from '../../src/capabilities/registry.ts'
import { standardCapabilities } from '../../src/capabilities/standard.ts'
import { silent } from '../../src/log/testing.ts'
import { createIds } from '../../src/platform/ids.ts'
import { failure as sqliteFailure } from '../../src/storage/sqlite/adapter.ts'
import { describeThrown } from '../../src/transport/http/describe-thrown.ts'
import { createRestApp } from '../../src/transport/rest/create-rest-app.ts'

const canary = 'c4n4ry-of-a-library'

/** As databases, libraries and the system raise them: the text stands in all that they have. */
const foreign = (): Error =>
  Object.assign(new Error(canary, { cause: new Error(canary) }), {
    code: canary,
    detail: canary,
    hint: canary,
    where: canary,
    path: `/${canary}`,
    sql: canary,
  })

type Method = (...given: unknown[]) => unknown

/** Stands between the application and its ports: notes each method that is called, and fails one of them. */
class Fuse {
  #noted: Map<string, boolean> | null = null
  #blown: { readonly name: string; readonly isAsync: boolean } | null = null
  readonly published: string[] = []

  /** Frozen ports too: the proxy stands for an empty object, and answers with what the port has. */
  readonly wrap = <T extends object>(name: string, port: T): T => {
    const get = (key: string | symbol): unknown => {
      const value: unknown = Reflect.get(port, key)
      if (typeof key === 'symbol') return typeof value === 'function' ? value.bind(port) : value
      if (typeof value === 'function') return this.#method(`${name}.${key}`, value as Method, port)
      return isPort(value) ? this.wrap(`${name}.${key}`, value) : value
    }
    return new Proxy<object>(
      {},
      {
        get: (_target, key) => get(key),
        has: (_target, key) => Reflect.has(port, key),
        ownKeys: () => Reflect.ownKeys(port),
        getOwnPropertyDescriptor: (_target, key) =>
          Reflect.has(port, key)
            ? { value: get(key), enumerable: true, configurable: true, writable: true }
            : undefined,
      },
    ) as T
  }

  /** Promises that are made meanwhile. */
  async noting(work: () => Promise<unknown>): Promise<Map<string, boolean>> {
    const noted = (this.#noted = new Map<string, boolean>())
    await work()
    this.#noted = null
    return noted
  }

  async failing<T>(name: string, isAsync: boolean, work: () => Promise<T>): Promise<T> {
    this.#blown = { name, isAsync }
    try {
      return await work()
    } finally {
      this.#blown = null
    }
  }

  #method(name: string, method: Method, owner: object): Method {
    return (...given) => {
      if (name === 'events.publish') this.published.push(JSON.stringify(given))
      if (this.#blown?.name === name) {
        if (this.#blown.isAsync) return Promise.reject(foreign())
        throw foreign()
      }
      const inside = given.map((one) =>
        name.endsWith('.transaction') && typeof one === 'function'
          ? (tx: object) => (one as Method)(this.wrap(`${name}.tx`, tx))
          : one,
      )
      const result = method.apply(owner, inside)
      const isAsync = result instanceof Promise
      this.#noted?.set(name, isAsync)
      return !isAsync && isPort(result) ? this.wrap(name, result) : result
    }
  }
}

/** An object with methods, no data. */
const isPort = (value: unknown): value is object => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  if (value instanceof Map || value instanceof Set || value instanceof Uint8Array) return false
  if (value instanceof AbortSignal || Symbol.asyncIterator in value) return false
  const own = Object.values(value)
  const inherited = Object.getPrototypeOf(value)
  return (
    own.some((one) => typeof one === 'function') ||
    (inherited !== Object.prototype && inherited !== null && !(value instanceof Date))
  )
}

type Schema = { readonly [key: string]: unknown }

const usual: Readonly<Record<string, unknown>> = {
  path: 'a.txt',
  pattern: 'a',
  url: 'http://a.test/',
  name: 'alpha',
  agent: 'alpha',
  key: 'k',
  capability: 'system.time',
  repository: '.',
  text: 'version: 1\nrules: []\n',
  until: '2030-01-01T00:00:00.000Z',
}

const sampleObject = (schema: Schema): unknown => {
  const properties = (schema['properties'] ?? {}) as Record<string, Schema>
  const required = (schema['required'] ?? []) as string[]
  return Object.fromEntries(
    required.map((key) => [key, sampleOf(properties[key] ?? {}, key)] as const),
  )
}

const sampleArray = ({ minItems = 0, items = {} }: Schema): unknown =>
  Number(minItems) > 0 ? [sampleOf(items as Schema)] : []

/** The least that fits a JSON schema, mostly. */
const sampleOf = (schema: Schema, name = ''): unknown => {
  if ('const' in schema) return schema['const']
  if (Array.isArray(schema['enum'])) return schema['enum'][0]
  const [one] = [schema['anyOf'], schema['oneOf'], schema['allOf']].filter(Array.isArray).flat()
  if (one && schema['type'] === undefined) return sampleOf(one as Schema, name)
  switch (schema['type']) {
    case 'object':
      return sampleObject(schema)
    case 'array':
      return sampleArray(schema)
    case 'integer':
    case 'number':
      return Math.max(Number(schema['minimum'] ?? 1), 1)
    case 'boolean':
      return true
    case 'null':
      return null
    default:
      return usual[name] ?? 'a'.repeat(Number(schema['minLength'] ?? 1))
  }
}

const everythingRuns = (tier: string) => `version: 1
rules:
  - { match: "*", tier: ${tier} }
limits:
  - { match: "*", limit: 100000, window: 1m }
`

const bodiesOf = async (kit: Kit): Promise<string> => {
  const rows = await kit.parts.audit.rows.range(
    kit.parts.node,
    0,
    Number.MAX_SAFE_INTEGER,
    1_000_000,
  )
  return rows.map(({ body }) => body).join('\n')
}

test('no text of what fails below a port reaches an agent, the log or an event', async () => {
  const fuse = new Fuse()
  await using kit = await createKit({ policy: everythingRuns('autonomous'), ports: fuse.wrap })
  await kit.agent('alpha')
  await kit.invoke('alpha', 'filesystem.write', { path: 'a.txt', content: 'a' })
  await kit.invoke('alpha', 'state.set', { key: 'k', value: 1 })
  let [ran, failed] = [0, 0]
  for (const { name, input_schema } of createRegistry(standardCapabilities).list()) {
    const call = async (): Promise<unknown> => {
      const stop = new AbortController()
      const given = {
        ...(sampleOf(input_schema as Schema) as object),
        ...(waits.has(name) ? atOnce : {}),
      }
      try {
        return await kit.invoke('alpha', name, given, { signal: stop.signal })
      } catch (thrown) {
        return describeThrown(thrown, 'req-1', silent).error
      }
    }
    const noted = await fuse.noting(call)
    ran += 1
    for (const [method, isAsync] of noted) {
      const answer = await fuse.failing(method, isAsync, call)
      failed += 1
      expect(JSON.stringify(answer), `${name}, where ${method} fails`).not.toContain(canary)
    }
  }
  expect(await bodiesOf(kit)).not.toContain(canary)
  expect(fuse.published.join('\n')).not.toContain(canary)
  expect(ran).toBeGreaterThan(100)
  expect(failed).toBeGreaterThan(600)
})

const waits = new Set(['approvals.wait', 'comms.receive', 'shared.watch', 'state.watch'])
const atOnce = { timeout_seconds: 0 }

test('nor a person, by any route', async () => {
  const fuse = new Fuse()
  await using kit = await createKit({
    policy: everythingRuns('approval_required'),
    ports: fuse.wrap,
  })
  await kit.agent('alpha')
  const { token } = await kit.app.createUserToken(kit.operator(), {
    label: 'ana',
    role: 'operator',
  })
  const rest = createRestApp({ app: kit.app, version: '1.2.3', ids: createIds(), log: silent })
  const called = Object.entries<Route>(routes).filter(([, { answer }]) => answer !== 'events')
  // Before any route is called: some pause, revoke or decide, and one replaces the policy.
  const approvals: string[] = []
  for (const index of called.keys()) {
    await kit.agent(`a${index}`)
    approvals.push(await kit.pending(`a${index}`, 'state.set', { key: 'k', value: 1 }))
  }
  let failed = 0
  for (const [index, [operation, route]] of called.entries()) {
    const approval = approvals[index]
    const call = async (): Promise<string> => {
      const path = route.path.replaceAll(/:(\w+)/g, (_, name: string) =>
        String(name === 'id' && route.path.includes('approvals') ? approval : (usual[name] ?? 'a')),
      )
      const body =
        route.body && sampleOf(z.toJSONSchema(route.body, { io: 'input', unrepresentable: 'any' }))
      const response = await rest.fetch(
        new Request(`http://gatehouse.localhost${path}`, {
          method: route.method,
          headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        }),
      )
      return response.text().catch(() => '')
    }
    for (const [method, isAsync] of await fuse.noting(call)) {
      const answer = await fuse.failing(method, isAsync, call)
      failed += 1
      expect(answer, `${operation}, where ${method} fails`).not.toContain(canary)
    }
  }
  expect(await bodiesOf(kit)).not.toContain(canary)
  expect(fuse.published.join('\n')).not.toContain(canary)
  expect(failed).toBeGreaterThan(300)
})

test('an engine of the store says what failed by its code alone', () => {
  for (const errcode of [1, 5, 11, 13, 19, 2067])
    expect(
      JSON.stringify(
        [sqliteFailure(Object.assign(foreign(), { errcode }), 'gatehouse.db')].map(shown),
      ),
    ).not.toContain(canary)
  expect(
    sqliteFailure(Object.assign(foreign(), { errcode: 13 }), 'gatehouse.db').message,
  ).toContain('disk is full')
})

const shown = (error: { message: string; facts: unknown }) => [error.message, error.facts]

const sources = join(import.meta.dirname, '../../src')

const reads =
  /\w+ instanceof Error \? [\w.]+\.message|as (?:NodeJS\.Errno\w+|Error)\)\.message|String\((?:cause|error|err|thrown)(?:\??\.message[^)]*)?\)/

/** Code that reads the text of a caught error all the same, and what becomes of it. */
const readers: Readonly<Record<string, string>> = {
  'capabilities/filesystem/regex.ts': 'is told apart, and said in our words',
  'capabilities/filesystem/regex-thread.mjs': 'is told apart, and said in our words',
  'inference/engine/engine-socket.ts': 'is told apart by its code, and is a cause',
  'policy/cel.ts': 'of a condition, for the person who wrote it',
  'policy/cel-inspect.ts': 'of a condition, for the person who wrote it',
  'processes/create-process-host.ts': 'is told apart, and said in our words',
  'proxy/adapters/calendar/describe-dav.ts': 'of our own errors, which have these codes',
  'proxy/adapters/mail/read-mail.mjs': 'is dropped: the mail counts as unreadable',
  'sandbox/try-bubblewrap.ts': 'for the operator who asks why programs do not run',
  'sandbox/try-landlock.ts': 'for the operator who asks why programs do not run',
  'telemetry/tracing.ts': 'for the log',
}

test('no source makes words of the text of a caught error', () => {
  const found = readdirSync(sources, { recursive: true, encoding: 'utf8' }).filter(
    (file) =>
      /\.(?:ts|mjs)$/.test(file) &&
      !/\.test\.ts$|testing\.ts$/.test(file) &&
      reads.test(readFileSync(join(sources, file), 'utf8')),
  )
  expect(found.toSorted()).toEqual(Object.keys(readers).toSorted())
})
