import { chmodSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import {
  holderPid,
  nodeName,
  openDataDirectory,
  writePid,
  writePrivateFile,
} from './data-directory.ts'

const folder = (): string => {
  const made = mkdtempSync(join(tmpdir(), 'gatehouse-data-'))
  onTestFinished(() => rmSync(made, { recursive: true }))
  return made
}

test('a folder that others can write to is refused, naming the fix; one they can only read is closed', () => {
  const open = folder()
  chmodSync(open, 0o777)
  expect(() => openDataDirectory(open)).toThrow(`chmod 700 ${open}`)
  const readable = folder()
  chmodSync(readable, 0o755)
  openDataDirectory(readable)
  expect(statSync(readable).mode & 0o777).toBe(0o700)
})

test('a node keeps its name, and a damaged one is refused instead of replaced', () => {
  const data = folder()
  const name = nodeName(data)
  expect(nodeName(data)).toBe(name)
  writePrivateFile(join(data, 'node-id'), 'nonsense')
  expect(() => nodeName(data)).toThrow('is damaged')
})

test('the holder of the data is a process that lives', () => {
  const data = folder()
  expect(holderPid(data)).toBeNull()
  writePid(data)
  expect(holderPid(data)).toBe(process.pid)
  // Above the largest process number that Linux gives out.
  for (const text of [`${2 ** 22 + 1}`, 'nonsense', '']) {
    writePrivateFile(join(data, 'lock.pid'), text)
    expect(holderPid(data)).toBeNull()
  }
})
