import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { Gatehouse } from './gatehouse.ts'

test('a token file that comes after the first call is read by the next one', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-token-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const tokenFile = join(folder, 'token')
  const sent: (string | null)[] = []
  const gatehouse = new Gatehouse({
    tokenFile,
    fetch: async (_address, init) => {
      sent.push(new Headers(init?.headers).get('authorization'))
      throw new TypeError('nobody is there')
    },
  })
  await expect(gatehouse.call('system.time')).rejects.toThrow()
  expect(sent).toEqual([])
  writeFileSync(tokenFile, `${'a'.repeat(64)}\n`, { mode: 0o600 })
  await expect(gatehouse.call('system.time')).rejects.toThrow()
  expect(sent).toContain(`Bearer ${'a'.repeat(64)}`)
})
