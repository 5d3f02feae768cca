import { type ErrorType, errorTable, GatehouseError } from '@gatehouse/contract'
import { routes } from '@gatehouse/contract/routes'
import type { Answer } from '@gatehouse/rest-client'
import { seeded } from '@gatehouse/testkit/installation/seeds'
import { beforeAll, expect, test } from 'vitest'
import { standardCapabilities } from '../../server/src/capabilities/standard.ts'
import { createProblem } from '../../server/src/transport/rest/problem.ts'
import { commands } from '../src/commands/index.ts'
import type { Connect } from '../src/connect.ts'
import { exitCodeOf, exitCodes } from '../src/exit-codes.ts'
import { createCliKit, type Ran } from './kit.ts'
import { commandLines } from './lines.ts'

const run = {
  pid: 4711,
  version: '1.2.3',
  started_at: '2026-03-01T12:00:00.000Z',
  gateway_url: 'http://127.0.0.1:7700',
  mcp_url: 'ws://127.0.0.1:7700/mcp',
  user_api_url: 'http://127.0.0.1:7703',
  dashboard_url: 'https://127.0.0.1:7800',
  wake_port: 7702,
}

/** A server that answers everything with this, and how often it was asked. */
function answering(status: number, body: string) {
  const asked = { count: 0 }
  const connect: Connect = async ({ places }) => ({
    dataDir: places.dirs[0],
    run,
    async fetch(): Promise<Answer> {
      asked.count += 1
      return new Response(body, { status, headers: { 'content-type': 'application/json' } })
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  })
  return { connect, asked }
}

/** Pattern of a fault of ours: a stack, or the words of the engine for a missing value. */
const fault =
  /\n\s+at \S|TypeError|Cannot read propert|is not a function|is not iterable|undefined|\[object/

function assertReadable({ out, err }: Ran, json: boolean): void {
  expect(err).not.toMatch(fault)
  expect(out).not.toMatch(fault)
  if (json && err !== '') expect(JSON.parse(err)).toMatchObject({ error: { type: /./ } })
}

const lines = commands
  .filter(({ name }) => commandLines[name] !== null)
  .map(({ name }) => [name, [...name.split(' '), ...(commandLines[name] ?? [])]] as const)

const given = { input: 'hunter2-hunter2\nhunter3-hunter3\n', env: { HOME: '/does/not/exist' } }

/** The facts of a message, whatever they are called. */
const anyFacts = new Proxy<Record<string, string>>({}, { get: () => 'x', has: () => true })

const problemOf = (type: ErrorType, current?: unknown): string =>
  JSON.stringify(
    createProblem(new GatehouseError(type, anyFacts), 'req-1', {
      ...(current === undefined ? {} : { current }),
      errors: [{ pointer: '/name', detail: 'too long' }],
    }),
  )

/** Both ways to print each error of each command; else each error and each command in both, and a pair in one of them. */
const full = process.env['GATEHOUSE_FULL'] === '1'

/** Without the one that is no failure over REST: a call that waits is accepted. */
const refusals = (Object.keys(errorTable) as ErrorType[]).filter(
  (type) => errorTable[type].http >= 400,
)

test('has a line for every command', () => {
  expect(Object.keys(commandLines).toSorted()).toEqual(commands.map(({ name }) => name).toSorted())
})

test('tells people commands of theirs, whole, and no capability of an agent', () => {
  const told = new Set(
    Object.values(routes).flatMap((route): readonly ErrorType[] =>
      'errors' in route ? route.errors : [],
    ),
  )
  const foreign = new Set([...standardCapabilities, ...commands].map(({ name }) => name))
  expect(told.size).toBeGreaterThan(50)
  for (const type of told) {
    const { recovery } = createProblem(new GatehouseError(type, anyFacts), 'req-1')
    for (const { action } of recovery)
      expect([type, foreign.has(action), action]).toEqual([type, false, action])
  }
  const { recovery } = createProblem(new GatehouseError('ApprovalNotFound', anyFacts), 'req-1')
  expect(recovery).toMatchObject([{ action: 'gatehouse approvals list' }])
})

test.each(lines)('%s says each error of the table in a sentence', async (name, line) => {
  const kit = createCliKit()
  for (const [at, type] of refusals.entries()) {
    const { http } = errorTable[type]
    for (const json of full ? [false, true] : [(at + name.length) % 2 === 0]) {
      const { connect, asked } = answering(http, problemOf(type))
      const ran = await kit.gatehouse(json ? [...line, '--json'] : line, { ...given, connect })
      assertReadable(ran, json)
      // Commands of this machine alone ask no server, and one answer is as good as another to them.
      if (asked.count === 0) return
      // The doctor lists what it finds, and a refusal is one of its findings.
      if (name === 'doctor') expect(ran.code).toBe(exitCodes.failed)
      else expect([type, ran.code, ran.out]).toEqual([type, exitCodeOf(http), ''])
      if (name !== 'doctor') expect(ran.err).toContain(type)
    }
  }
})

const records: unknown[] = [
  { agent: 'mailbot', key: 'notes/a', value: 1, version: 3, updated_at: 'x' },
  { id: 'x', agent: 'y' },
  null,
  7,
  'text',
  [],
  {},
]

beforeAll(async () => {
  const kit = createCliKit()
  const { out } = await kit.gatehouse(['proxy', 'writes', '--json'])
  records.push(await kit.approval(seeded.approval), JSON.parse(out).writes[0])
})

test.each(lines)('%s shows whatever record a conflict carries', async (_name, line) => {
  const kit = createCliKit()
  for (const current of records)
    for (const json of [false, true]) {
      const { connect } = answering(409, problemOf('VersionConflict', current))
      const ran = await kit.gatehouse(json ? [...line, '--json'] : line, { ...given, connect })
      assertReadable(ran, json)
    }
})

const bodies = [
  '',
  'null',
  '7',
  '"text"',
  '[]',
  '{}',
  '{"agents":',
  '<html>no</html>',
  '{"code":7,"detail":{}}',
  '{"code":"X","detail":"y","recovery":7,"errors":[null,{}],"current":{}}',
  'event: approval\ndata: {"half\n\n',
]

test.each(lines)('%s takes no malformed answer for a good one', async (name, line) => {
  const kit = createCliKit()
  for (const status of [200, 409, 500])
    for (const body of bodies)
      for (const json of [false, true]) {
        const { connect, asked } = answering(status, body)
        // A stream that ends is opened again, for as long as the person waits.
        const signal = AbortSignal.timeout(streams.has(name) ? 20 : 60_000)
        const options = { ...given, connect, signal }
        const ran = await kit.gatehouse(json ? [...line, '--json'] : line, options)
        // A stream may be empty, and is opened again with a word about it; a record is never.
        assertReadable(ran, json && !streams.has(name))
        if (asked.count === 0) return
        if (!streams.has(name)) expect([status, body, ran.code]).not.toEqual([status, body, 0])
      }
})

const streams: ReadonlySet<string> = new Set(['watch', 'approvals watch', 'audit export', 'backup'])

test('names the version that stands there, where another was expected', async () => {
  const current = { agent: 'mailbot', key: 'notes/a', value: 1, version: 3, updated_at: 'x' }
  const { connect } = answering(409, problemOf('VersionConflict', current))
  const line = ['state', 'set', 'mailbot', 'notes/a', '1', '--expected-version', '9']
  const ran = await createCliKit().gatehouse(line, { connect })
  expect([ran.code, ran.out]).toEqual([1, ''])
  expect(ran.err).toContain('as it stands now: notes/a of mailbot is at version 3')
})
