import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { expect, onTestFinished, test, vi } from 'vitest'
import { Dir } from './dir.ts'
import { removeTree } from './remove.ts'

const names = Array.from({ length: 50 }, (_, i) => `file-${i}`)

const fill = (folder: string) => {
  mkdirSync(folder, { recursive: true })
  for (const name of names) writeFileSync(join(folder, name), '')
}

/** A root with a tree to delete, beside a folder with files of the same names. */
const open = (byPath: boolean) => {
  const base = mkdtempSync(join(tmpdir(), 'gatehouse-remove-'))
  const at = (...path: string[]) => join(base, ...path)
  for (const folder of [at('root', 'tree', 'sub'), at('out')]) fill(folder)
  const dir = Dir.open(at('root'), byPath)
  onTestFinished(() => {
    dir.close()
    rmSync(base, { recursive: true })
  })
  return { at, dir }
}

const ways = [
  ['by descriptors', false],
  ['by paths', true],
] as const

test.each(ways)('deletes all that lies below a name, %s', async (_way, byPath) => {
  const { at, dir } = open(byPath)
  symlinkSync(at('out'), at('root', 'tree', 'link'))
  await removeTree(dir, 'tree')
  expect(readdirSync(at('root'))).toEqual([])
  expect(readdirSync(at('out'))).toHaveLength(names.length)
})

test.each(ways)('a folder that becomes a link leads it nowhere, %s', async (_way, byPath) => {
  const { at, dir } = open(byPath)
  // Each name takes so long that others go before the next one.
  let ms = 0
  vi.spyOn(performance, 'now').mockImplementation(() => (ms += 10))
  onTestFinished(() => void vi.restoreAllMocks())
  const removing = removeTree(dir, 'tree')
  while (readdirSync(at('root', 'tree', 'sub')).length === names.length) await setImmediate()
  renameSync(at('root', 'tree', 'sub'), at('moved'))
  symlinkSync(at('out'), at('root', 'tree', 'sub'))
  await expect(removing).rejects.toThrow()
  expect(readdirSync(at('out'))).toHaveLength(names.length)
  expect(existsSync(at('root', 'tree', 'sub'))).toBe(true)
})
