import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { createKit, type Kit } from '@gatehouse/testkit'
import { replacing } from '@gatehouse/testkit/replacing'
import { expect, test } from 'vitest'
import { standardCapabilities } from '../../capabilities/standard.ts'
import type { StoredApproval } from '../../ports/approvals.ts'
import type { Storage } from '../../ports/storage.ts'

// What an approved call was for is looked at before its run is recorded. What comes after that look is met here, by
// acting as soon as the run is on record.

const policy = `version: 1
rules:
  - { match: "*", tier: approval_required }
`

type Tx = { readonly approvals: Storage['approvals'] }
type Log = { transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T> }

/** A service in which `act` comes between the record of a run and the run. */
const open = async (act: (kit: Kit) => unknown) => {
  const acting = (log: Log): Log =>
    replacing(log, {
      async transaction(work) {
        let claims = false
        const noting = (tx: Tx): Tx => {
          const replace = (before: StoredApproval, next: StoredApproval) => {
            claims ||= before.execution === 'waiting' && next.execution === 'running'
            return tx.approvals.replace(before, next)
          }
          return replacing(tx, { approvals: replacing(tx.approvals, { replace }) })
        }
        const done = await log.transaction((tx) => work(noting(tx)))
        if (claims) await act(kit)
        return done
      },
    })
  const kit: Kit = await createKit({
    policy,
    runsApproved: false,
    ports: <T extends object>(name: string, port: T): T =>
      name === 'auditLog' ? (acting(port as never) as never) : port,
  })
  await kit.agent('alpha')
  const at = (name: string) => join(kit.workspace('alpha'), name)
  mkdirSync(at('.'), { recursive: true })
  return {
    kit,
    at,
    async approved(capability: string, args: Readonly<Record<string, unknown>>) {
      const id = await kit.pending('alpha', capability, args)
      await kit.decide(id, 'approve')
      return id
    },
    async outcome(id: string) {
      kit.clock.move(1_000)
      await kit.resolved('alpha', id)
      const { execution } = await kit.app.showApproval(kit.operator(), { approval_id: id })
      return execution
    },
    [Symbol.asyncDispose]: () => kit[Symbol.asyncDispose](),
  }
}

type At = (name: string) => string
type Case = readonly [
  what: string,
  capability: string,
  args: Readonly<Record<string, unknown>>,
  change: (at: At) => void,
]

const put = (name: string) => (at: At) => writeFileSync(at(name), 'by somebody else: old')

const files: readonly Case[] = [
  ['a file that is replaced', 'filesystem.write', { path: 'a', content: 'new' }, put('a')],
  ['a file that was not there', 'filesystem.write', { path: 'c', content: 'new' }, put('c')],
  [
    'the destination of a copy',
    'filesystem.copy',
    { source: 'a', destination: 'b', overwrite: true },
    put('b'),
  ],
  ['the source of a copy', 'filesystem.copy', { source: 'a', destination: 'c' }, put('a')],
  [
    'the destination of a move',
    'filesystem.move',
    { source: 'a', destination: 'b', overwrite: true },
    put('b'),
  ],
  ['the source of a move', 'filesystem.move', { source: 'a', destination: 'c' }, put('a')],
  ['a file that is deleted', 'filesystem.delete', { path: 'a' }, put('a')],
  [
    'a file that is edited',
    'filesystem.edit',
    { path: 'a', pattern: 'old', replace: 'x' },
    put('a'),
  ],
  [
    'a file that is added to',
    'filesystem.append',
    { path: 'a', content: 'new' },
    (at) => renameSync(at('b'), at('a')),
  ],
]

const everything = (at: At): Readonly<Record<string, string>> =>
  Object.fromEntries(
    readdirSync(at('.'), { withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ name }) => [name, readFileSync(at(name), 'utf8')]),
  )

test.each(files)(
  '%s may not change as an approved call begins',
  async (_, capability, args, change) => {
    for (const isChanged of [false, true]) {
      let act = () => {}
      let left = {}
      await using made = await open(() => act())
      const { at } = made
      for (const name of ['a', 'b']) writeFileSync(at(name), `${name}, old`)
      act = () => {
        if (isChanged) change(at)
        left = everything(at)
      }
      const id = await made.approved(capability, args)
      const outcome = await made.outcome(id)
      if (!isChanged) {
        expect(outcome.state).toBe('succeeded')
        continue
      }
      expect(outcome).toMatchObject({
        state: 'failed',
        result: {
          error: {
            type: 'ApprovalStale',
            message: expect.stringMatching(
              `^The request ${id} is stale: /.* has changed since it was asked for`,
            ) as string,
          },
        },
      })
      expect(everything(at)).toEqual(left)
    }
    const declared = standardCapabilities.find(({ name }) => name === capability)
    expect(declared?.errors).toContain('ApprovalStale')
  },
)

test('an approved edit is made in the folder that was shown, wherever the path leads by then', async () => {
  await using made = await open(() => {
    renameSync(at('folder'), at('was'))
    symlinkSync('other', at('folder'))
  })
  const { at } = made
  for (const folder of ['folder', 'other']) mkdirSync(at(folder))
  writeFileSync(at('folder/a'), 'old')
  linkSync(at('folder/a'), at('other/a'))
  const args = { path: 'folder/a', pattern: 'old', replace: 'new' }
  const outcome = await made.outcome(await made.approved('filesystem.edit', args))
  expect(outcome).toMatchObject({ state: 'failed', result: { error: { type: 'ApprovalStale' } } })
  expect(readFileSync(at('other/a'), 'utf8')).toBe('old')
})

test('of two approved writes of one file that begin at once exactly one is made', async () => {
  let begun = 0
  let both = () => {}
  const isBoth = new Promise<void>((resolve) => (both = resolve))
  await using made = await open(async () => {
    begun += 1
    if (begun === 2) both()
    await isBoth
  })
  const texts = ['one', 'two']
  const ids: string[] = []
  for (const content of texts)
    ids.push(await made.approved('filesystem.write', { path: 'notes.md', content }))
  const states = await Promise.all(ids.map(async (id) => (await made.outcome(id)).state))
  expect(states.toSorted()).toEqual(['failed', 'succeeded'])
  expect(readFileSync(made.at('notes.md'), 'utf8')).toBe(texts[states.indexOf('succeeded')])
  expect(existsSync(made.at('.gatehouse-trash'))).toBe(false)
})

test.each([
  ['state.set', 1, { key: 'k', value: 'new' }],
  ['state.set', 0, { key: 'k', value: 'new' }],
  ['state.delete', 1, { key: 'k' }],
  ['state.delete', 0, { key: 'k' }],
] as const)(
  '%s of a value at version %i is not of a later one',
  async (capability, version, args) => {
    const set = (kit: Kit, value: string) =>
      kit.app.changeState(kit.operator(), { agent: 'alpha', key: 'k', value })
    await using made = await open((kit) => set(kit, 'by somebody else'))
    if (version > 0) await set(made.kit, 'old')
    const outcome = await made.outcome(await made.approved(capability, args))
    expect(outcome).toMatchObject({
      state: 'failed',
      result: { error: { type: 'VersionConflict' } },
    })
    expect(
      await made.kit.app.showState(made.kit.operator(), { agent: 'alpha', key: 'k' }),
    ).toMatchObject({ value: 'by somebody else', version: version + 1 })
  },
)
