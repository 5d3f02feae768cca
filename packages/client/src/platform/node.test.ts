import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readTokenFile } from './node.ts'

test('reads a token that nobody else can read, and no other', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-token-'))
  const file = join(folder, 'coder.token')
  writeFileSync(file, `${'a'.repeat(64)}\n`, { mode: 0o600 })
  expect(await readTokenFile(file)).toBe('a'.repeat(64))
  chmodSync(file, 0o640)
  await expect(readTokenFile(file)).rejects.toThrow(/chmod 600/)
  rmSync(folder, { recursive: true })
})
