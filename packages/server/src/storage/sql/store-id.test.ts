import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openSqlite } from '../sqlite/open.ts'

const files = (): { one: string; two: string } => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-test-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return { one: join(folder, 'one.db'), two: join(folder, 'two.db') }
}

const idOf = async (file: string): Promise<string> => {
  await using storage = await openSqlite({ file })
  return storage.id
}

test('a store keeps its id, and no other has it', async () => {
  const { one, two } = files()
  const id = await idOf(one)
  expect(id).toMatch(/^store-[0-9a-f]{24}$/)
  expect(await idOf(one)).toBe(id)
  expect(await idOf(two)).not.toBe(id)
})

test('another store, or an empty one, is refused before a byte is written', async () => {
  const { one, two } = files()
  const expectedId = await idOf(one)
  await expect(openSqlite({ file: two, expectedId })).rejects.toMatchObject({
    type: 'StoreMismatch',
  })
  expect(readFileSync(two)).toHaveLength(0)
  await idOf(two)
  const before = readFileSync(two)
  await expect(openSqlite({ file: two, expectedId })).rejects.toThrow(
    `${expectedId}, as its store.json says`,
  )
  expect(readFileSync(two).equals(before)).toBe(true)
  await using storage = await openSqlite({ file: one, expectedId })
  expect(storage.id).toBe(expectedId)
})
