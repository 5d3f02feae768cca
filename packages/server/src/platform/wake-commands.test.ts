import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { until } from '@gatehouse/testkit/until'
import { expect, test } from 'vitest'
import type { Log } from '../ports/log.ts'
import { createWakeCommands } from './wake-commands.ts'

const wanted = async () => true

const opened = (script: string, agent = 'alpha') => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-wake-'))
  const said: { message: string; facts: Record<string, unknown> }[] = []
  const note = (facts: object, message: string) =>
    void said.push({ message, facts: facts as Record<string, unknown> })
  const log: Log = { debug: note, info: note, warn: note, error: note }
  const commands = createWakeCommands({
    commands: { [agent]: [process.execPath, '-e', script, '$HOME; exit 3'] },
    environment: { LANG: 'C' },
    folder,
    log,
  })
  return {
    folder,
    said,
    commands,
    async [Symbol.asyncDispose]() {
      await commands[Symbol.asyncDispose]()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

test('starts the program itself, without a shell, with an environment of its own', async () => {
  const script = `require('fs').writeFileSync('out', JSON.stringify([process.argv.slice(1), process.env]))`
  await using here = opened(script)
  expect(here.commands.start('alpha', 'wake-1', wanted)).toBe('started')
  await until(() => here.said.length > 0)
  const [args, environment] = JSON.parse(readFileSync(join(here.folder, 'out'), 'utf8')) as [
    string[],
    Record<string, string>,
  ]
  expect(args).toEqual(['$HOME; exit 3'])
  expect(environment).toEqual({ LANG: 'C', GATEHOUSE_AGENT: 'alpha', GATEHOUSE_WAKE_ID: 'wake-1' })
})

test('one runs at a time for an agent, and only for agents that have one', async () => {
  const script = `require('fs').appendFileSync('out', 'x'); process.stdin.resume(); setInterval(() => require('fs').existsSync('go') && process.exit(), 5)`
  await using here = opened(script)
  const { start } = here.commands
  expect(start('beta', 'wake-1', wanted)).toBe('none')
  expect(start('__proto__', 'wake-1', wanted)).toBe('none')
  expect(start('alpha', 'wake-1', wanted)).toBe('started')
  expect(start('alpha', 'wake-2', wanted)).toBe('running')
  const out = join(here.folder, 'out')
  await until(() => existsSync(out) && readFileSync(out, 'utf8') !== '')
  expect(readFileSync(out, 'utf8')).toBe('x')
})

/** Writes down each of its wakes, and ends once there is a file `go`. */
const untilGo = `const fs = require('fs'); fs.appendFileSync('out', process.env.GATEHOUSE_WAKE_ID + ' '); setInterval(() => fs.existsSync('go') && process.exit(), 5)`

type Here = ReturnType<typeof opened>
const wakesOf = ({ folder }: Here): string => {
  const out = join(folder, 'out')
  return existsSync(out) ? readFileSync(out, 'utf8') : ''
}
const endsOf = ({ said }: Here): number =>
  said.filter(({ message }) => message === 'the on_wake command ended').length
const go = ({ folder }: Here): void => writeFileSync(join(folder, 'go'), '')

test('starts once more after it has ended, for the newest wake that came while it ran', async () => {
  await using here = opened(untilGo)
  const { start } = here.commands
  start('alpha', 'wake-1', wanted)
  for (const wake of ['wake-2', 'wake-3']) expect(start('alpha', wake, wanted)).toBe('running')
  await until(() => wakesOf(here) === 'wake-1 ')
  go(here)
  await until(() => endsOf(here) === 2)
  expect(wakesOf(here)).toBe('wake-1 wake-3 ')
  expect(start('alpha', 'wake-4', wanted)).toBe('started')
})

test('does not start once more where nobody wants it any more, or it was started meanwhile', async () => {
  await using here = opened(untilGo)
  const { start } = here.commands
  const asked: string[] = []
  start('alpha', 'wake-1', wanted)
  start('alpha', 'wake-2', async () => asked.push('wake-2') === 0)
  await until(() => wakesOf(here) === 'wake-1 ')
  go(here)
  await until(() => asked.length === 1)
  expect(start('alpha', 'wake-3', wanted)).toBe('started')
  start('alpha', 'wake-4', async () => start('alpha', 'wake-5', wanted) === 'started')
  await until(() => endsOf(here) === 3)
  expect(wakesOf(here)).toBe('wake-1 wake-3 wake-5 ')
})

test('does not start once more as the service ends', async () => {
  const here = opened(untilGo)
  const { start } = here.commands
  const asked: string[] = []
  start('alpha', 'wake-1', wanted)
  start('alpha', 'wake-2', async () => asked.push('wake-2') > 0)
  await until(() => wakesOf(here) === 'wake-1 ')
  await here.commands[Symbol.asyncDispose]()
  await until(() => asked.length === 1)
  expect(start('alpha', 'wake-3', wanted)).toBe('none')
  expect(wakesOf(here)).toBe('wake-1 ')
  await here[Symbol.asyncDispose]()
})

test('keeps the end of what it prints for the log, and no more', async () => {
  await using here = opened(`console.log('a'.repeat(100000)); console.error('the end')`)
  here.commands.start('alpha', 'wake-1', wanted)
  await until(() => here.said.some(({ message }) => message === 'the on_wake command ended'))
  const output = String(here.said[0]?.facts['output'])
  expect(output.length).toBeLessThanOrEqual(4_096)
})

test('what does not start is logged, and the next wake tries again', async () => {
  await using here = opened('')
  const commands = createWakeCommands({
    commands: { alpha: ['/nowhere/at-all'] },
    environment: {},
    folder: here.folder,
    log: {
      debug: () => {},
      info: () => {},
      warn: () => {},
      error: (facts, message) => void here.said.push({ message, facts: { ...facts } }),
    },
  })
  commands.start('alpha', 'wake-1', wanted)
  // Neither is it tried again and again for a wake that came before it was known not to start.
  expect(commands.start('alpha', 'wake-2', wanted)).toBe('running')
  await until(() => here.said.length === 1)
  expect(here.said[0]?.message).toBe('the on_wake command could not be started')
  expect(commands.start('alpha', 'wake-3', wanted)).toBe('started')
  await commands[Symbol.asyncDispose]()
})

test('ends with the service, and so does what it started', async () => {
  const script = `const c = require('child_process').spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']); require('fs').writeFileSync('pids', process.pid + ' ' + c.pid); process.on('SIGTERM', () => {}); setInterval(() => {}, 1000)`
  const here = opened(script)
  here.commands.start('alpha', 'wake-1', wanted)
  const file = join(here.folder, 'pids')
  await until(() => existsSync(file) && readFileSync(file, 'utf8').includes(' '))
  const pids = readFileSync(file, 'utf8').split(' ').map(Number)
  await here[Symbol.asyncDispose]()
  const alive = (pid: number) => {
    try {
      // A zombie still takes signals; its state says that it has ended.
      return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
    } catch {
      return false
    }
  }
  await until(() => !pids.some(alive))
  expect(pids).toHaveLength(2)
})
