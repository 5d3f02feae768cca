import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { makeTemporaryFolder } from '@gatehouse/testkit/temporary-folder'
import { expect, onTestFinished, test } from 'vitest'
import { GatePool } from './gate-pool.ts'

/** Serves, and ends when told to by a stop or by this file. */
const serving = (end: string) => `
import { existsSync } from 'node:fs'
setInterval(() => existsSync('${end}') && process.exit(3), 10)
process.on('message', ({ kind, envelope }) => {
  if (kind === 'begin') process.send({ kind: 'ready' })
  if (kind === 'stop') process.exit()
  if (kind !== 'envelope') return
  const { id, from } = envelope
  process.send({ kind: 'envelope', envelope: { kind: 'answer', id, from: 1, to: from, answer: {} } })
})`

/** Says why it does not start, and is slow to end. */
const failing = (told: string, end: string) => `
import { existsSync, writeFileSync } from 'node:fs'
setInterval(() => existsSync('${end}') && process.exit(1), 10)
process.on('message', ({ kind }) => {
  if (kind === 'stop') process.exit()
  if (kind !== 'begin') return
  const facts = { detail: 'its key is gone' }
  process.send({ kind: 'failed', type: 'StorageUnavailable', facts }, () => writeFileSync('${told}', ''))
})`

/** A pool with one process beside the first; the program of that one is what `become` was given last. */
const openPool = (count = 2) => {
  const folder = makeTemporaryFolder()
  const program = join(folder, 'gate.mjs')
  const log = { debug() {}, info() {}, warn() {}, error() {} }
  const pool = new GatePool({ count, program: pathToFileURL(program), log })
  return {
    at: (name: string) => join(folder, name),
    become: (text: string) => writeFileSync(program, text),
    start: () => pool.start({ flags: {}, page: '', address: '', ports: [], nodeIdentity: null }),
    pool,
    /** Why the second process does not serve; null where it answers. */
    fault: () =>
      pool.link.ask(1, 'facts', null).then(
        () => null,
        (cause: Error) => cause.message,
      ),
    [Symbol.asyncDispose]: () => pool[Symbol.asyncDispose](),
  }
}

test('what is said of a process that is down always says that it is started again', async () => {
  await using pool = openPool()
  const { at } = pool
  pool.become(serving(at('end')))
  await pool.start()
  expect(await pool.fault()).toBeNull()

  pool.become(failing(at('told'), at('end of the second')))
  writeFileSync(at('end'), '')
  const down = 'gate process 2 does not serve: it ended with 3, and is started again'
  await expect.poll(pool.fault).toContain(down)
  // It has said that it does not start, and has not ended yet.
  await expect.poll(() => existsSync(at('told'))).toBe(true)
  expect(await pool.fault()).toContain(down)
  writeFileSync(at('end of the second'), '')
  await expect
    .poll(pool.fault)
    .toMatch(/: it does not start: .*its key is gone.*, and is started again/)

  pool.become('process.exit(4)')
  await expect.poll(pool.fault).toContain('2 does not serve: it ended with 4, and is started again')
  pool.become(serving(at('never')))
  await expect.poll(pool.fault).toBeNull()
})

test('a process that the system does not even begin is started again', async () => {
  const { execPath } = process
  onTestFinished(() => {
    process.execPath = execPath
  })
  await using pool = openPool()
  const { at } = pool
  pool.become(serving(at('end')))
  await pool.start()
  process.execPath = at('nothing')
  writeFileSync(at('end'), '')
  await expect
    .poll(pool.fault)
    .toContain('it cannot be started: a file or folder is missing (ENOENT), and is started again')
  rmSync(at('end'))
  process.execPath = execPath
  await expect.poll(pool.fault).toBeNull()
})

/** Asks the third process as soon as it is asked itself, and says how that ended. The third never answers. */
const asking = (end: string) => `
import { existsSync } from 'node:fs'
let own = 0
let asked = null
const send = (envelope) => process.send({ kind: 'envelope', envelope })
process.on('message', ({ kind, begin, envelope, index }) => {
  if (kind === 'stop') process.exit()
  if (kind === 'begin') {
    own = begin.index
    process.send({ kind: 'ready' })
    if (own === 2) setInterval(() => existsSync('${end}') && process.exit(3), 10)
  }
  if (kind === 'envelope' && own === 1) {
    asked = envelope
    send({ kind: 'question', id: 7, from: 1, to: 2, question: 'facts', given: null })
  }
  if (kind === 'lost' && asked)
    send({ kind: 'answer', id: asked.id, from: 1, to: asked.from, answer: { lost: index } })
})`

test('a process that asked another one hears that it ended', async () => {
  await using pool = openPool(3)
  pool.become(asking(pool.at('end')))
  await pool.start()
  const answer = pool.pool.link.ask(1, 'facts', null)
  writeFileSync(pool.at('end'), '')
  expect(await answer).toEqual({ lost: 2 })
  rmSync(pool.at('end'))
})
