import type { VaultStatus } from '@gatehouse/contract'
import { expect, test } from 'vitest'
import type { Gates } from '../../ports/gates.ts'
import type { Op } from '../call/op.ts'
import { followVault } from './follow-vault.ts'

const op = {} as Op
const passphrase = 'correct horse battery'

/** The vault of the first process and of one that starts; `meanwhile` runs once, after the first question was answered. */
const two = (
  first: { locked: boolean; passphrase: string | null },
  startsLocked: boolean,
  meanwhile: (change: (to: typeof first) => void) => void = () => undefined,
) => {
  let [there, locked, asked] = [first, startsLocked, 0]
  const done: string[] = []
  const status = () => ({ locked }) as VaultStatus
  /** What an operator does there, and what this process hears of it. */
  const change = (to: typeof first): void => {
    there = to
    locked = to.locked
  }
  const gates = {
    async ask() {
      asked += 1
      return there
    },
  } as unknown as Pick<Gates, 'ask'>
  const vault = {
    async showVault() {
      const before = status()
      if (asked === 1) meanwhile(change)
      return before
    },
    async lockVault() {
      done.push('lock')
      locked = true
      return status()
    },
    async unlockVault(_op: Op, input: { passphrase?: string }) {
      done.push(`unlock ${input.passphrase ?? 'by the key file'}`)
      locked = false
      return status()
    },
  }
  return { deps: { gates, vault }, done, isLocked: () => locked }
}

const open = { locked: false, passphrase }
const shut = { locked: true, passphrase: null }
const openByFile = { locked: false, passphrase: null }

test('a process that starts opens the vault as it is open in the first, or locks it', async () => {
  const opening = two(open, true)
  await followVault(op, opening.deps)
  expect(opening.done).toEqual([`unlock ${passphrase}`])
  const locking = two(shut, false)
  await followVault(op, locking.deps)
  expect(locking.done).toEqual(['lock'])
  // One that cannot open it by the key file says so, and begins all the same.
  const unable = two(openByFile, true)
  await followVault(op, unable.deps)
  expect(unable.done).toEqual([])
})

test('a vault that an operator locks meanwhile is locked in the end', async () => {
  const { deps, isLocked } = two(open, true, (change) => change(shut))
  await followVault(op, deps)
  expect(isLocked()).toBe(true)
})

test('a vault that an operator unlocks meanwhile is open in the end', async () => {
  for (const by of [open, openByFile]) {
    const { deps, isLocked } = two(shut, false, (change) => change(by))
    await followVault(op, deps)
    expect(isLocked()).toBe(false)
  }
})
