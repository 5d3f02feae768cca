import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeTemporaryFolder } from '@gatehouse/testkit/temporary-folder'
import { expect, test } from 'vitest'
import { commands } from '../src/commands/index.ts'
import { connect } from '../src/connect.ts'
import { exitCodes } from '../src/exit-codes.ts'
import { createCliKit } from './kit.ts'
import { commandLines } from './lines.ts'

/** Commands that read files of the person or none at all, and commands that make a new installation. */
const others = {
  alone: [
    'version',
    'completion',
    '__complete',
    'catalog validate',
    'audit check-proof',
    'restore',
    'join',
    'setup service',
  ],
  begins: ['agent create', 'user-token create', 'operator set-password', 'vault passphrase'],
} as const

const linesOfTheirOwn: Readonly<Record<string, readonly string[]>> = {
  'upstream login': ['notes', '--no-browser'],
  'audit check-proof': ['/does/not/exist'],
  'audit test': ['elsewhere'],
  'catalog validate': ['/does/not/exist'],
  migrate: ['--back', '--yes'],
  'setup service': ['--dry-run'],
  wake: ['mailbot'],
  'tls fingerprint': [],
  __complete: ['agent show m'.replaceAll(' ', '\n')],
}

const lineOf = (name: string): readonly string[] => [
  ...name.split(' '),
  ...(commandLines[name] ?? linesOfTheirOwn[name] ?? []),
]

// `serve` is what begins an installation, and `mcp` waits for one; both would stay. `hook` says no in the code that its client
// reads: hook-failures.test.ts. The others have a test of their own.
const left = new Set(['serve', 'mcp', 'hook', 'connect', 'disconnect', 'selftest'])
const names = commands.map(({ name }) => name).filter((name) => !left.has(name))

const runIn = (home: string, line: readonly string[]) =>
  createCliKit().gatehouse([...line, '--data-dir', join(home, 'missing')], {
    connect,
    input: 'hunter2-hunter2\nhunter3-hunter3\n',
    env: { HOME: home },
  })

const isOther = (name: string): boolean =>
  ([...others.alone, ...others.begins] as readonly string[]).includes(name)

test.each(names.filter((name) => !isOther(name)))(
  '%s says that no Gatehouse is there, and creates nothing',
  async (name) => {
    const home = makeTemporaryFolder()
    const { code, out, err } = await runIn(home, lineOf(name))
    expect(readdirSync(home)).toEqual([])
    expect(code).toBe(exitCodes.notReachable)
    const missing = `No Gatehouse here; looked in ${join(home, 'missing')}.`
    expect(`${out}${err}`.split(missing).length).toBe(2)
    expect(name === 'doctor' ? out : err).toContain(missing)
    expect(`${out}${err}`).not.toMatch(/healthy|nothing waits/i)

    const json = await runIn(home, [...lineOf(name), '--json'])
    expect([json.code, readdirSync(home)]).toEqual([exitCodes.notReachable, []])
    if (name === 'doctor') expect(JSON.parse(json.out)).toMatchObject({ ok: false, running: false })
    else
      expect(JSON.parse(json.err)).toMatchObject({
        error: { type: 'NoGatehouse', message: missing, recovery: [{ action: /./ }, {}] },
      })
  },
)

test.each(others.alone)('%s needs no Gatehouse, and creates none', async (name) => {
  const home = makeTemporaryFolder()
  const { err } = await runIn(home, lineOf(name))
  expect(readdirSync(home)).toEqual([])
  expect(err).not.toContain('No Gatehouse here')
})

test.each(others.begins)(
  '%s prepares a new installation, and says that it is new',
  async (name) => {
    const home = makeTemporaryFolder()
    const first = await runIn(home, lineOf(name))
    expect([first.code, first.out]).toEqual([exitCodes.done, expect.stringMatching(/./)])
    expect(first.err).toContain(`A new Gatehouse is created in ${join(home, 'missing')}.`)
    expect(readdirSync(join(home, 'missing'))).toContain('gatehouse.db')
  },
)

test('a folder with something else in it is no Gatehouse', async () => {
  const home = makeTemporaryFolder()
  writeFileSync(join(home, 'notes.txt'), '')
  const ran = await createCliKit().gatehouse(['approvals', 'list', '--data-dir', home], { connect })
  expect([ran.code, readdirSync(home)]).toEqual([exitCodes.notReachable, ['notes.txt']])
  expect(ran.err).toContain('gatehouse serve --data-dir')
})

test('the doctor never calls a stopped installation healthy', async () => {
  const { code, out } = await createCliKit().gatehouse(
    ['doctor', '--data-dir', makeTemporaryFolder()],
    {
      offline: true,
    },
  )
  expect(code).toBe(exitCodes.notReachable)
  expect(out).toMatch(/FAIL  Server: none runs\n +fix: start it: gatehouse serve --data-dir \S+$/m)
  expect(out).not.toMatch(/Health|healthy/)
  expect(out).toContain('Audit log: ')
})
