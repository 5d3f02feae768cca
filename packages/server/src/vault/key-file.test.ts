import { chmodSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { makeTemporaryFolder } from '@gatehouse/testkit/temporary-folder'
import { expect, test } from 'vitest'
import { keyId, readKeyFile, removeKeyFile, writeKeyFile } from './key-file.ts'
import { newKey } from './seal.ts'

const place = () => join(makeTemporaryFolder(), 'vault.key')

test('keeps keys in a file that only its owner can read', () => {
  const file = place()
  const keys = [newKey(), newKey()]
  expect(readKeyFile(file)).toEqual({ kind: 'absent' })
  writeKeyFile(file, keys)
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(readKeyFile(file)).toEqual({ kind: 'keys', keys })
  expect(readdirSync(dirname(file))).toEqual(['vault.key'])
  removeKeyFile(file)
  expect(readKeyFile(file)).toEqual({ kind: 'absent' })
})

test.each([[0o640], [0o604], [0o620], [0o660], [0o777]])(
  'refuses a file of mode %o, and says what to do',
  (mode) => {
    const file = place()
    writeKeyFile(file, [newKey()])
    chmodSync(file, mode)
    expect(readKeyFile(file)).toMatchObject({
      kind: 'refused',
      remedy: expect.stringContaining('chmod 600'),
    })
    chmodSync(file, 0o600)
    expect(readKeyFile(file).kind).toBe('keys')
  },
)

test('follows no link, and reads no folder', () => {
  const file = place()
  const elsewhere = place()
  writeKeyFile(elsewhere, [newKey()])
  symlinkSync(elsewhere, file)
  expect(readKeyFile(file).kind).toBe('refused')
  expect(readKeyFile(dirname(file)).kind).toBe('refused')
})

test.each([
  ['nothing', ''],
  ['something else', 'hello\n'],
  ['half a key', 'gatehouse-vault-key-v1 0123\n'],
  ['a key and something else', `gatehouse-vault-key-v1 ${'0'.repeat(64)}\nhello\n`],
])('is damaged with %s in it', (_, text) => {
  const file = place()
  writeFileSync(file, text, { mode: 0o600 })
  expect(readKeyFile(file)).toMatchObject({
    kind: 'refused',
    reason: expect.stringMatching(/damaged/),
  })
})

test('names a key without telling it', () => {
  const key = newKey()
  expect(keyId(key)).toMatch(/^[0-9a-f]{16}$/)
  expect(keyId(key)).toBe(keyId(Buffer.from(key)))
  expect(key.toString('hex')).not.toContain(keyId(key))
})
