import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { gateFolders, IdleLogs, otherFolders } from './sibling-logs.ts'

const newFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-siblings-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

test('folders of gate processes are those with a number, in their order', () => {
  const dataDir = newFolder()
  expect(gateFolders(dataDir)).toEqual([])
  for (const name of ['10', '2', 'notes'])
    mkdirSync(join(dataDir, 'gates', name), { recursive: true })
  const [two, ten] = ['2', '10'].map((name) => join(dataDir, 'gates', name)) as [string, string]
  expect(gateFolders(dataDir)).toEqual([two, ten])
  expect(otherFolders(dataDir, two)).toEqual([dataDir, ten])
})

test('whatever changes in a log that nobody writes any more was somebody else', async () => {
  const folder = newFolder()
  const segments = join(folder, 'audit', 'segments')
  mkdirSync(segments, { recursive: true })
  const file = join(segments, '0000000000000000.log')
  writeFileSync(file, 'x')
  const logs = new IdleLogs(() => [folder])
  expect([await logs.takeForeign(), await logs.takeForeign()]).toEqual([false, false])
  appendFileSync(file, 'y')
  expect([await logs.takeForeign(), await logs.takeForeign()]).toEqual([true, false])
  rmSync(file)
  expect(await logs.takeForeign()).toBe(true)
})
