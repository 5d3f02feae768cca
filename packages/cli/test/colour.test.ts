import { seeded } from '@gatehouse/testkit/installation/seeds'
import { expect, test } from 'vitest'
import { createCliKit } from './kit.ts'
import { commandLines } from './lines.ts'

const given = 'hunter2-hunter2\nhunter3-hunter3\n'

const run = (line: readonly string[], columns?: number, env: Record<string, string> = {}) =>
  createCliKit().gatehouse(line, {
    ...(columns === undefined ? {} : { columns }),
    input: given,
    env: { NO_COLOR: '', ...env },
  })
const list = ['approvals', 'list']
const wrong = ['agent', 'show', 'nobody']
const escape = '\u001b['

test('colours titles, status words, tiers and errors on a terminal', async () => {
  const listed = (await run(list, 120)).out
  expect(listed).toContain(`${escape}1mID`)
  expect(listed).toContain(`${escape}33mpending${escape}0m`)
  const audited = (await run(['audit', 'query'], 200)).out
  expect(audited).toContain(`${escape}32mautonomous${escape}0m`)
  const accept = ['upstream', 'accept', seeded.waitingUpstream, '--yes']
  const kit = createCliKit()
  for (const [colour, word] of [
    [33, 'degraded'],
    [32, 'healthy'],
  ]) {
    const { out } = await kit.gatehouse(['status'], { columns: 80, env: { NO_COLOR: '' } })
    expect(out).toContain(`${escape}${colour}m${word}${escape}0m`)
    await kit.gatehouse(accept)
  }
  const card = (await run(['approvals', 'show', seeded.approval], 80)).out
  expect(card).toContain(`${escape}1mArguments that will run${escape}0m\n`)
  expect((await run(wrong, 80)).err).toContain(`${escape}31merror:${escape}0m `)
})

const colours = new RegExp(`${String.fromCharCode(27)}\\[\\d+m`, 'g')

const streams = new Set(['watch', 'approvals watch'])
const lines = Object.entries(commandLines).flatMap(([name, rest]) =>
  rest === null || streams.has(name) ? [] : [[...name.split(' '), ...rest]],
)

test.each(lines.map((line) => [line]))('prints no colour as JSON: %j', async (line) => {
  const { out, err } = await run([...line, '--json'], 120)
  expect(out + err).not.toContain('\u001b')
})

test.each(
  [list, ['audit', 'query'], ['status'], ['agent', 'show', 'mailbot'], wrong].map((line) => [line]),
)('says the same without colour: %j', async (line) => {
  const coloured = await run(line, 120)
  const plain = await run([...line, '--no-color'], 120)
  expect(coloured.out + coloured.err).toContain(escape)
  expect(coloured.out.replace(colours, '')).toBe(plain.out)
  expect(coloured.err.replace(colours, '')).toBe(plain.err)
})

test.each([
  ['without a terminal', undefined, {}, []],
  ['with NO_COLOR', 120, { NO_COLOR: '1' }, []],
  ['with --no-color', 120, {}, ['--no-color']],
  ['on a terminal that cannot', 120, { TERM: 'dumb' }, []],
] as const)('colours nothing %s', async (_why, columns, env, flags) => {
  const listed = await run([...list, ...flags], columns, env)
  const failed = await run([...wrong, ...flags], columns, env)
  expect(listed.out + failed.err).not.toContain('\u001b')
  expect(listed.out).toContain('pending')
  expect(failed.err).toContain('error: ')
})
