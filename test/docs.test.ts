import { spawnSync } from 'node:child_process'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { alertKinds, Health } from '@gatehouse/contract'
import { hasProgram } from '@gatehouse/testkit/programs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { compareWithExemptions, readExemptions } from '../scripts/lib/exemptions.mjs'
import { readPage } from '../scripts/lib/markdown.mjs'
import { commandProblems, readCommands } from './docs/check-commands.ts'
import { hasOutput, shapeDifferences } from './docs/compare-output.ts'
import { readBlocks } from './docs/read-blocks.ts'
import { readCalls } from './docs/read-calls.ts'
import { type Page, runPage, unmarked } from './docs/run-page.ts'
import { Shell } from './docs/shell.ts'
import { bin, Installation, type Run } from './support/server.ts'

const root = new URL('..', import.meta.url).pathname
const guides = readdirSync(join(root, 'docs/guide')).map((name) => `docs/guide/${name}`)
const pages = ['README.md', ...guides].map((path) => ({
  path,
  blocks: readBlocks(readFileSync(join(root, path), 'utf8')),
}))

const hasPython = spawnSync('python3', ['--version']).status === 0
const canRun =
  hasProgram('jq') &&
  hasProgram('curl') &&
  hasProgram('openssl') &&
  hasProgram('xxd') &&
  hasProgram('bwrap') &&
  hasProgram('git')

test('every block of code in the README and the guides says how it is tested', () => {
  const gaps = pages.flatMap(({ path, blocks }) =>
    blocks.flatMap((block) => {
      const problem = unmarked(block)
      return problem === null ? [] : [`${path}:${block.line} ${problem}`]
    }),
  )
  expect(gaps).toEqual([])
})

test('blocks that are not run are listed, and their list only shrinks', () => {
  const skipped = pages.flatMap(({ path, blocks }) =>
    blocks
      .filter(({ mode }) => mode === 'skip')
      .map(({ language, options }) => `${path}: ${language}, ${options['skip']}`),
  )
  expect(compareWithExemptions(skipped, readExemptions('skipped-blocks.txt'))).toEqual([])
})

test('every alarm has a section that says what to do', () => {
  const { anchors } = readPage(readFileSync(join(root, 'docs/guide/alarms.md'), 'utf8'))
  const kinds = alertKinds.filter((kind) => kind !== 'agent').map((kind) => `alert-${kind}`)
  const parts = Object.keys(Health.shape.components.shape).map((name) => `health-${name}`)
  expect([...kinds, ...parts].filter((anchor) => !anchors.has(anchor))).toEqual([])
})

test('every policy of the examples stands in the cookbook', () => {
  const shown = pages.flatMap(({ blocks }) => blocks.map(({ options }) => options['from']))
  const files = readdirSync(join(root, 'examples/policies'))
  expect(shown.filter((file) => file !== undefined).toSorted()).toEqual(files.toSorted())
})

test('commands in blocks that are not run exist, with their options', async () => {
  const problems = await Promise.all(
    pages.map(async ({ path, blocks }) => {
      const skipped = blocks.filter(({ language, mode }) => language === 'sh' && mode === 'skip')
      const found = await Promise.all(skipped.map(({ text }) => commandProblems(text)))
      return found.flat().map((problem) => `${path}: ${problem}`)
    }),
  )
  expect(problems.flat()).toEqual([])
  expect(await commandProblems('npx gatehouse status --nothing | jq # a\n')).toHaveLength(1)
  expect(readCommands('a=$(gatehouse b --c "d e" \\\n  f | jq -r .x)\n# gatehouse g\n')).toEqual([
    ['b', '--c', 'd e', 'f'],
  ])
})

test('texts name the command as it is installed; only the pages on installing name npx', () => {
  const sources = ['cli', 'contract', 'dashboard', 'server'].flatMap((name) =>
    readdirSync(join(root, `packages/${name}/src`), { recursive: true, encoding: 'utf8' })
      .filter((file) => /\.tsx?$/.test(file) && !/\.test\.|next-step\.ts$/.test(file))
      .map((file) => `packages/${name}/src/${file}`),
  )
  const named = ['SECURITY.md', ...pages.map(({ path }) => path), ...sources].filter((file) =>
    /npx gatehouse\b(?!d)/.test(readFileSync(join(root, file), 'utf8')),
  )
  expect(named).toEqual(['README.md', 'docs/guide/install.md'])
})

test('reads blocks, hidden steps and calls, and compares outputs and shapes', () => {
  const text =
    '<!-- with\na=1\n-->\n\n```sh run\necho $a\n```\n\n```yaml skip="no reason"\nb: 1\n```\n'
  expect(readBlocks(text)).toMatchObject([
    { line: 5, language: 'sh', mode: 'run', text: 'a=1\necho $a\n' },
    { line: 9, language: 'yaml', mode: 'skip', options: { skip: 'no reason' } },
  ])
  expect(readCalls('a.b {"c": {\n  "d": 1 }}\ne.f_g {"h": "}"}  → version 3\n')).toEqual([
    { capability: 'a.b', args: { c: { d: 1 } }, result: null },
    { capability: 'e.f_g', args: { h: '}' }, result: { field: 'version', value: '3' } },
  ])
  expect(hasOutput('one  two\nthree', 'one two …ree')).toBe(true)
  expect(hasOutput('one two', 'one three')).toBe(false)
  expect(shapeDifferences({ a: 1, b: { c: '' } }, { a: 2, b: { c: 'x' } })).toEqual([])
  expect(shapeDifferences({ a: 1, b: 1 }, { a: '1', c: 1 })).toEqual([
    '.a has another type',
    '.b is not shown',
    '.c is not there',
  ])
})

describe.skipIf(!canRun)('the blocks of each page work as they stand', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-docs-'))
  const gate = new Installation(join(folder, 'data'))
  const received = join(folder, 'received')
  /** Receives notifications, and keeps the last one as it came. */
  const receiver = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      writeFileSync(join(received, 'signature'), String(request.headers['gatehouse-signature']))
      writeFileSync(join(received, 'webhook.json'), Buffer.concat(chunks))
      response.writeHead(204).end()
    })
  })
  let run: Run
  let userToken: string
  let agentToken: string

  /** `gatehouse` is the command of this checkout, as if it were installed. */
  const makePrograms = (): string => {
    const programs = join(folder, 'bin')
    mkdirSync(programs)
    symlinkSync(bin, join(programs, 'gatehouse'))
    return programs
  }

  let environment: Record<string, string>

  beforeAll(async () => {
    mkdirSync(received)
    await new Promise<void>((resolve) => {
      receiver.listen(0, '127.0.0.1', resolve)
    })
    const { port } = receiver.address() as AddressInfo
    mkdirSync(join(gate.dataDir, 'secrets'), { recursive: true })
    writeFileSync(join(gate.dataDir, 'secrets/ops'), 'a-secret-of-the-docs', { mode: 0o600 })
    writeFileSync(
      join(gate.dataDir, 'gatehouse.yaml'),
      `notifications:\n  - name: phone\n    kind: webhook\n    url: http://127.0.0.1:${port}/\n    secret_file: secrets/ops\n    events: [approval.pending]\n`,
      { mode: 0o600 },
    )
    run = await gate.start()
    environment = {
      PATH: `${makePrograms()}:${process.env['PATH']}`,
      GATEHOUSE_DATA_DIR: gate.dataDir,
      NO_COLOR: '1',
      LANG: 'C.UTF-8',
      GATEWAY: run.gateway_url,
      USER_API: run.user_api_url,
      ROOT: root,
      RECEIVED: received,
    }
    agentToken = (await gate.createAgent('reader-of-docs')).token
    await gate.createAgent('coder')
    const made = await gate.json<{ token: string }>([
      'user-token',
      'create',
      '--label',
      'docs',
      '--role',
      'operator',
    ])
    userToken = made.token
    Object.assign(environment, { AGENT_TOKEN: agentToken, USER_TOKEN: userToken })
  })

  afterAll(async () => {
    await gate.stop()
    receiver.close()
    rmSync(folder, { recursive: true, force: true })
  })

  /** A folder of the page's own, which is its home, too; the clients of agents are installed in it. */
  const openPage = (name: string): Shell => {
    const place = join(folder, 'pages', name.replaceAll('/', '-'))
    mkdirSync(join(place, 'node_modules'), { recursive: true })
    symlinkSync(join(root, 'packages/client'), join(place, 'node_modules/gatehouse-client'))
    symlinkSync(join(root, 'examples/python-client/gatehouse.py'), join(place, 'gatehouse.py'))
    return new Shell(place, { ...environment, HOME: place })
  }

  test.each(pages)('$path', async ({ path, blocks }) => {
    const runnable = blocks.filter(({ language }) => hasPython || language !== 'python')
    if (runnable.every(({ mode }) => mode === 'skip')) return
    using shell = openPage(path)
    const page: Page = { shell, run, userToken, agentToken }
    await shell.run(readFileSync(join(root, 'test/docs/prelude.sh'), 'utf8'))
    expect(await runPage(page, runnable)).toBeNull()
  })
})
