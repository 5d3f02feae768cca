import { readdirSync, readFileSync } from 'node:fs'
import { type ErrorType, errorTable, GatehouseError } from '@gatehouse/contract'
import { expect, test } from 'vitest'
import { createProblem } from '../../server/src/transport/rest/problem.ts'
import { commands } from '../src/commands/index.ts'
import type { Connect } from '../src/connect.ts'
import { createCliKit } from './kit.ts'
import { commandLines } from './lines.ts'

const names = commands.map(({ name }) => name).toSorted((a, b) => b.length - a.length)
const mention = `gatehouse (?:${names.join('|')}|--help)(?![\\w-])`

/** A command as printed: how this program is started, and the data directory in reach of it. */
const assertWorks = (text: string): void => {
  expect(text).not.toMatch(new RegExp(`(?<!npx )${mention}`))
  for (const [step] of text.matchAll(new RegExp(`npx ${mention}[^\\n]*`, 'g')))
    expect(step).toContain('--data-dir /srv/g')
}

const there = { program: 'npx gatehouse', env: { HOME: '/does/not/exist' } } as const
const lines = commands.flatMap(({ name }) => {
  const words = commandLines[name]
  // The help of a shell and the certificate of this machine name no data of the server.
  return words && name !== 'completion' ? [[name, [...name.split(' '), ...words]] as const] : []
})
const input = 'hunter2-hunter2\nhunter3-hunter3\n'

test.each(lines)('%s prints commands that work as printed', async (_name, line) => {
  for (const flag of [[], ['--json']]) {
    const kit = createCliKit()
    const signal = AbortSignal.timeout(50)
    const given = [...line, ...flag, '--data-dir', '/srv/g']
    const { out, err } = await kit.gatehouse(given, { ...there, input, signal })
    // With --json the data is the record of the server, word for word.
    if (flag.length === 0) assertWorks(out)
    assertWorks(err)
  }
})

const anyFacts = new Proxy<Record<string, string>>({}, { get: () => 'x', has: () => true })

test.each(Object.keys(errorTable) as ErrorType[])(
  'the remedies of %s work as printed',
  async (type) => {
    const { http } = errorTable[type]
    const body = JSON.stringify(createProblem(new GatehouseError(type, anyFacts), 'req-1'))
    const connect: Connect = async ({ places }) => ({
      dataDir: places.dirs[0],
      run: null,
      fetch: async () => new Response(body, { status: Math.max(400, http) }),
      [Symbol.asyncDispose]: () => Promise.resolve(),
    })
    for (const flag of [[], ['--json']]) {
      const line = ['agent', 'list', ...flag, '--data-dir', '/srv/g']
      assertWorks((await createCliKit().gatehouse(line, { ...there, connect })).err)
    }
  },
)

test('a node that cannot be reached is named with why and what to set', async () => {
  const node = {
    ...{ name: 'node-b', place: 'b:/data', address: 'http://10.0.0.5:7700', version: '0.1.0' },
    ...{ status: 'active', answering: false, policy_version: null, sessions: 0, processes: 0 },
    ...{ started_at: '2026-01-02T00:00:00.000Z', seen_at: '2026-01-02T00:00:00.000Z' },
    ...{ log_finding: null, site: 'site-b', unreachable: 'http://10.0.0.5:7701: ECONNREFUSED' },
  }
  const list = { nodes: [node], shared: true, workspaces: 'separate' }
  const connect: Connect = async ({ places }) => ({
    dataDir: places.dirs[0],
    run: null,
    fetch: async () => Response.json(list),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  })
  const { out } = await createCliKit().gatehouse(['nodes', 'list'], { ...there, connect })
  expect(out).toContain(
    "This node can't reach node-b, and forwards nothing there: http://10.0.0.5:7701: ECONNREFUSED. Set node_url on node-b.",
  )
})

const sources = new URL('../src/', import.meta.url)

/** Texts that are rewritten where they are printed: help, and the texts of errors. */
const rewritten = (source: string): string =>
  source
    .replaceAll(/examples: \[[^]*?\],\n/g, '')
    .replaceAll(/(action|about): (['`]).*?\2|args: \{ .*? \}/g, '')
    .replaceAll(/description:\s+(['`]).*?\1/g, '')
    .replaceAll(/usageError\([^]*?\)\n/g, '')

// Branches that no line above takes are held by this.
test.each(
  readdirSync(sources, { recursive: true, encoding: 'utf8' }).filter(
    (file) =>
      file.endsWith('.ts') &&
      !file.endsWith('.test.ts') &&
      !/^(help|doctor.((client-)?checks|import-check))\.ts$/.test(file),
  ),
)('%s leaves the name of the program to next()', (file) => {
  const source = readFileSync(new URL(file, sources), 'utf8').replaceAll(
    /^\s*(\/\/|\*|\/\*).*$/gm,
    '',
  )
  expect(rewritten(source)).not.toMatch(new RegExp(mention))
})
