import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { lookAtRest } from './at-rest.ts'
import { openCheckpoints } from './log/checkpoints.ts'
import { loadKeys } from './log/keys.ts'
import { silent } from './log/testing.ts'
import { nodeName } from './platform/data-directory.ts'
import { recordStore } from './platform/store-record.ts'
import { openLocalCertificates } from './tls/open-certificates.ts'

/** The files of a service that are looked at. */
const dataDirectory = async (): Promise<string> => {
  const dataDir = mkdtempSync(join(tmpdir(), 'gatehouse-at-rest-'))
  onTestFinished(() => rmSync(dataDir, { recursive: true }))
  const audit = join(dataDir, 'audit')
  mkdirSync(audit)
  using checkpoints = openCheckpoints(audit, 'main', loadKeys(audit), null)
  for (const size of [10, 20]) checkpoints.add('gatehouse/audit/main', size, '0'.repeat(64))
  using _ = await openLocalCertificates({ directory: join(dataDir, 'tls'), hosts: [], log: silent })
  nodeName(dataDir)
  recordStore(dataDir, { engine: 'sqlite', store_id: 'one', version: '1.0.0' })
  return dataDir
}

test('damage of each file that a start reads is named, with its remedy', async () => {
  const dataDir = await dataDirectory()
  expect(lookAtRest(dataDir)).toEqual([])
  const damaged: readonly [file: string, change: (text: string) => string, fix: string][] = [
    ['store.json', () => '{', 'restore'],
    ['node-id', () => 'node-x', 'restore'],
    ['audit/audit-redaction.key', (text) => `${text}x`, 'restore a backup'],
    ['audit/audit.pub', (text) => text.replace(/[A-Z]/, 'z'), 'start the service'],
    ['audit/audit.key', () => 'no key', 'restore a backup'],
    ['audit/checkpoints.log', (text) => text.replace('main\n20', 'main\n30'), 'audit acknowledge'],
    ['tls/ca.pem', () => 'no certificate', 'restore it from a backup'],
    ['tls/ca-key.pem', () => 'no key', 'restore it from a backup'],
    ['tls/cert.pem', () => 'no certificate', 'the next start'],
    ['tls/key.pem', () => 'no key', 'the next start'],
  ]
  for (const [name, change, fix] of damaged) {
    const file = join(dataDir, name)
    const good = readFileSync(file, 'latin1')
    rmSync(file)
    writeFileSync(file, change(good), 'latin1')
    const found = lookAtRest(dataDir)
    expect([name, found.map(({ detail }) => detail).join()]).toEqual([
      name,
      expect.stringContaining(name) as string,
    ])
    expect([name, found.map((one) => one.fix).join()]).toEqual([
      name,
      expect.stringContaining(fix) as string,
    ])
    rmSync(file)
    writeFileSync(file, good, { encoding: 'latin1', mode: 0o400 })
  }
  expect(lookAtRest(dataDir)).toEqual([])
})

test('a folder without data has nothing that could be damaged, and gets nothing', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'gatehouse-at-rest-'))
  onTestFinished(() => rmSync(dataDir, { recursive: true }))
  expect(lookAtRest(dataDir)).toEqual([])
  expect(readdirSync(dataDir)).toEqual([])
})
