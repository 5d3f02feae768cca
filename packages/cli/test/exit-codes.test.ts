import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { UnreachableError } from '@gatehouse/rest-client'
import { seeded } from '@gatehouse/testkit/installation/seeds'
import { makeTemporaryFolder } from '@gatehouse/testkit/temporary-folder'
import { expect, test } from 'vitest'
import { commands } from '../src/commands/index.ts'
import { serverNeeded } from '../src/connect.ts'
import { exitCodes } from '../src/exit-codes.ts'
import { forgeEntry } from './forge-entry.ts'
import { createCliKit } from './kit.ts'

test('pins the exit codes', () => {
  expect(exitCodes).toEqual({
    done: 0,
    failed: 1,
    wrongUsage: 2,
    notReachable: 3,
    notAllowed: 4,
    notFound: 5,
  })
})

test.each([
  [0, ['agent', 'list']],
  [0, ['--json', 'agent', 'list']],
  [0, ['version']],
  [0, ['--version']],
  [0, ['help', 'agent', 'list']],
  [1, ['agent', 'resume', 'mailbot']],
  [1, ['agent', 'create', 'mailbot']],
  [1, ['policy', 'validate', '/does/not/exist.yaml']],
  [2, []],
  [2, ['agent']],
  [2, ['agnet', 'list']],
  [2, ['agent', 'create']],
  [2, ['agent', 'create', 'Bad Name']],
  [2, ['agent', 'list', 'extra']],
  [2, ['agent', 'list', '--colour']],
  [2, ['agent', 'list', '--json=yes']],
  [2, ['agent', 'list', '--data-dir']],
  [2, ['audit', 'query', '--limit', 'ten']],
  [2, ['audit', 'query', '--limit', '5000']],
  [2, ['user-token', 'create', '--label', 'x', '--role', 'king']],
  [2, ['user-token', 'create']],
  [2, ['completion', 'tcsh']],
  [5, ['agent', 'show', 'nobody']],
  [5, ['approvals', 'approve', 'appr-x']],
] as const)('ends with %i: gatehouse %j', async (code, line) => {
  expect((await createCliKit().gatehouse(line)).code).toBe(code)
})

test('ends with 3 when no server answers, and with 4 when the token may not', async () => {
  const kit = createCliKit()
  const silent = await kit.gatehouse(['agent', 'list'], {
    connect: async () => {
      throw new UnreachableError('http://127.0.0.1:7703/', new Error('ECONNREFUSED'))
    },
  })
  expect([silent.code, silent.out]).toEqual([3, ''])
  const none = await kit.gatehouse(['status'], {
    connect: async () => {
      throw serverNeeded()
    },
  })
  expect(none.code).toBe(3)
  expect(none.err).toContain('gatehouse serve')
  kit.role = 'viewer'
  const refused = await kit.gatehouse(['agent', 'pause', 'mailbot'])
  expect(refused.code).toBe(4)
  expect(refused.err).toContain('it needs agents.manage')
})

test('ends with 1 when the log was tampered with, and when a policy is not valid', async () => {
  const broken = createCliKit()
  await forgeEntry(broken)
  const verified = await broken.gatehouse(['audit', 'verify'])
  expect([verified.code, verified.out.split('\n')[0]]).toEqual([1, 'THE LOG IS NOT VERIFIED.'])
  const file = join(makeTemporaryFolder(), 'policy.yaml')
  await writeFile(file, 'version: 2\n')
  const kit = createCliKit()
  expect((await kit.gatehouse(['policy', 'validate', file])).code).toBe(1)
  expect((await kit.gatehouse(['policy', 'set', file])).code).toBe(1)
  await writeFile(file, 'version: 1\nrules: []\n')
  expect((await kit.gatehouse(['policy', 'validate', file])).code).toBe(0)
  expect((await kit.gatehouse(['policy', 'set', file])).code).toBe(0)
})

test('says who was first when a decision comes too late', async () => {
  const kit = createCliKit()
  await (await kit.open()).kit.decide(seeded.approval, 'approve', { as: 'ben' })
  const late = await kit.gatehouse(['approvals', 'reject', seeded.approval])
  expect(late.code).toBe(1)
  expect(late.err).toContain('already approved')
  expect(late.err).toContain('user:ben')
})

test('puts data on the output and everything else on the error output, as JSON too', async () => {
  const kit = createCliKit()
  const done = await kit.gatehouse(['approvals', 'approve', seeded.approval, '--json'])
  expect(JSON.parse(done.out)).toMatchObject({ status: 'approved' })
  expect(done.err).toBe('')
  const failed = await kit.gatehouse(['agent', 'show', 'nobody', '--json'])
  expect(failed.out).toBe('')
  expect(JSON.parse(failed.err)).toMatchObject({ error: { type: 'AgentNotFound' } })
})

/** Commands whose words name files, or stand in a body or a datagram. */
const namesNothing = new Set([
  ...['__complete', 'completion', 'models default', 'models start', 'restore', 'wake', 'watch'],
])

test.each(commands.filter(({ name }) => !namesNothing.has(name)).map(({ name }) => [name]))(
  'gatehouse %s takes no ".." for a name, and changes nothing',
  async (name) => {
    const command = await commands.find((entry) => entry.name === name)?.load()
    const words = Object.values(command?.args ?? {})
    if (words.length === 0) return
    const kit = createCliKit()
    const before = await kit.agent('mailbot')
    const line = [...name.split(' '), ...words.map(() => '..'), '--yes']
    const ran = await kit.gatehouse(line, { input: '{}' })
    expect(ran.code, ran.out).not.toBe(0)
    expect(await kit.agent('mailbot')).toEqual(before)
  },
)
