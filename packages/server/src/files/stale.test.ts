import { mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { constants, tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { codeOf, failure } from './failure.ts'
import { identityAt, identityOf, named } from './identity.ts'
import { letGo, retryingStale } from './open.ts'

/** As Node tells it, of a file that another client of a network file system has replaced. */
const stale = () =>
  Object.assign(new Error('Unknown system error -116, fstat'), {
    code: 'Unknown system error -116',
    errno: -constants.errno.ESTALE,
  })

const failing = (times: number, error: () => unknown) => {
  const seen = { opened: 0, looked: 0 }
  const open = () => {
    seen.opened += 1
    if (seen.opened <= times) throw error()
    return 'open'
  }
  return { seen, run: () => retryingStale(open, () => void (seen.looked += 1)) }
}

test('a file that another machine replaced is opened again after a look at its name', () => {
  for (const error of [stale, () => failure(stale(), 'a')]) {
    const some = failing(7, error)
    expect(some.run()).toBe('open')
    expect(some.seen).toEqual({ opened: 8, looked: 7 })
    const all = failing(8, error)
    expect(all.run).toThrow()
    expect(all.seen).toEqual({ opened: 8, looked: 7 })
  }
  const other = failing(1, () => new Error('another'))
  expect(other.run).toThrow('another')
  expect(other.seen).toEqual({ opened: 1, looked: 0 })
})

test('what goes on being replaced is told as such', () => {
  expect(codeOf(stale())).toBe('ESTALE')
  expect(failure(stale(), 'a')).toMatchObject({
    type: 'Overloaded',
    facts: { path: 'a', detail: 'another machine is replacing it' },
  })
})

test('files are told apart by all 64 bits of their numbers', () => {
  const [one, next] = [-7_285_907_613_812_620_568n, -7_285_907_613_812_620_567n]
  expect(named({ dev: 1n, ino: one })).toBe('1:11160836459896931048')
  expect(named({ dev: 1n, ino: next })).toBe('1:11160836459896931049')
  expect(Number(BigInt.asUintN(64, one))).toBe(Number(BigInt.asUintN(64, next)))
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-identity-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  for (const name of ['a', 'b']) writeFileSync(join(folder, name), '')
  const fd = openSync(join(folder, 'a'), 'r')
  expect(identityOf(fd)).toBe(identityAt(join(folder, 'a')))
  expect(identityOf(fd)).not.toBe(identityAt(join(folder, 'b')))
  expect(identityAt(join(folder, 'none'))).toBeNull()
  letGo(fd)
  expect(() => letGo(fd)).toThrow('EBADF')
})
