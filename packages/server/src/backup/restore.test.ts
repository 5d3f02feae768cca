import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createBackups } from './create-backups.ts'
import { pack } from './pack.ts'
import { inspectBackup, restoreBackup } from './restore.ts'
import { seal } from './seal.ts'
import { filesOf, gather, testKey, testManifest } from './testing.ts'

const newFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-backup-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

const backupOf = async (files: readonly (readonly [string, string])[]) => {
  const folder = newFolder()
  const file = join(folder, 'made.backup')
  writeFileSync(file, await gather(seal(pack(testManifest, filesOf(files)), testKey)))
  return { folder, file, secret: testKey, target: join(folder, 'new') }
}

const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

test('lays out what was packed, for its owner only', async () => {
  const made = await backupOf([
    ['node-id', 'node-1\n'],
    ['audit/keys/a.pem', 'secret'],
    ['workspaces/bot/Note.txt', 'x'],
    ['workspaces/bot/note.txt', 'y'],
  ])
  expect(await restoreBackup(made)).toMatchObject({ ...testManifest, files: 4, bytes: 15 })
  expect(readFileSync(join(made.target, 'audit/keys/a.pem'), 'utf8')).toBe('secret')
  expect(statSync(join(made.target, 'audit/keys/a.pem')).mode & 0o777).toBe(0o600)
  expect(statSync(made.target).mode & 0o777).toBe(0o700)
})

test.each([
  ['a way up', '../../evil'],
  ['a way up inside', 'policies/../../evil'],
  ['an absolute name', '/tmp/evil'],
  ['a backslash', 'policies\\..\\evil'],
  ['an empty part', 'policies//evil'],
  ['a dot', 'policies/./evil'],
  ['a zero byte', 'policies/a\0b'],
  ['a place that is no part of a backup', 'run.json'],
  ['a folder that is no part of a backup', 'bin/evil'],
  ['a file where a folder belongs', 'audit'],
])('refuses %s whole, and writes nothing', async (_what, path) => {
  const made = await backupOf([
    ['node-id', 'node-1\n'],
    [path, 'x'],
  ])
  await expect(restoreBackup(made)).rejects.toThrow('cannot be used')
  expect(readdirSync(made.folder)).toEqual(['made.backup'])
})

test('refuses a name that stands twice, in whatever case', async () => {
  const twice = await backupOf([
    ['policies/a.yaml', 'x'],
    ['policies/A.yaml', 'y'],
  ])
  await expect(restoreBackup(twice)).rejects.toThrow('twice')
})

test('refuses a target that holds anything, and takes an empty one', async () => {
  const made = await backupOf([['node-id', 'node-1\n']])
  mkdirSync(made.target)
  writeFileSync(join(made.target, 'mine'), 'x')
  await expect(
    restoreBackup({ ...made, file: `${made.file}.no`, target: `${made.target}2` }),
  ).rejects.toThrow('cannot be read (ENOENT)')
  await expect(restoreBackup(made)).rejects.toThrow('is not empty')
  expect(readdirSync(made.target)).toEqual(['mine'])
  rmSync(join(made.target, 'mine'))
  await restoreBackup(made)
  expect(readdirSync(made.target)).toEqual(['node-id'])
})

test('a file that was cut off or changed leaves the target as it was', async () => {
  const made = await backupOf([['node-id', 'x'.repeat(200_000)]])
  const whole = readFileSync(made.file)
  writeFileSync(made.file, whole.subarray(0, whole.length - 30_000))
  await expect(restoreBackup(made)).rejects.toThrow('cannot be used')
  expect(existsSync(made.target)).toBe(false)
  writeFileSync(made.file, whole)
  expect(await inspectBackup(made)).toMatchObject({ files: 1, bytes: 200_000 })
})

test('takes the files of a data directory, follows no link in a workspace, and cleans up', async () => {
  const dataDir = newFolder()
  for (const folder of ['audit', 'policies', 'workspaces', 'workspaces/bot'])
    mkdirSync(join(dataDir, folder))
  writeFileSync(join(dataDir, 'audit/audit.head'), 'mark')
  writeFileSync(join(dataDir, 'policies/organisation.yaml'), 'version: 1')
  writeFileSync(join(dataDir, 'cli-token'), 'token')
  mkdirSync(join(dataDir, 'secrets'))
  writeFileSync(join(dataDir, 'secrets/ops'), 'secret')
  writeFileSync(join(dataDir, 'vault.key'), 'key of then\n')
  writeFileSync(join(dataDir, 'run.json'), '{}')
  writeFileSync(join(dataDir, 'workspaces/bot/a.txt'), 'a')
  symlinkSync('../../cli-token', join(dataDir, 'workspaces/bot/link'))
  symlinkSync('../../audit', join(dataDir, 'workspaces/bot/links'))
  mkdirSync(join(dataDir, '.backup-left'))
  const backups = createBackups({
    dataDir,
    version: '1.2.3',
    node: 'node-1',
    engine: 'sqlite',
    siteFile: '.site',
    copyLog: (folder) => cpSync(join(dataDir, 'audit'), folder, { recursive: true }),
    gates: () => [],
    copyDatabase: async (file) => {
      writeFileSync(file, 'database')
      writeFileSync(join(dataDir, 'audit/audit.head'), 'after the database')
    },
  })
  const snapshot = backups.snapshot()
  expect(() => backups.snapshot()).toThrow('another one is being made')
  writeFileSync(join(dataDir, 'vault.key'), 'key of now\n')
  const folder = newFolder()
  const file = join(folder, 'made.backup')
  const { signal } = new AbortController()
  const stream = snapshot.stream({ secret: testKey, withWorkspaces: true, signal })
  writeFileSync(file, await gather(stream))
  expect(readdirSync(dataDir).filter((name) => name.startsWith('.'))).toEqual([])
  backups.snapshot().release()

  const target = join(folder, 'new')
  await restoreBackup({ file, secret: testKey, target })
  expect(readdirSync(target, { recursive: true }).map(String).toSorted(byText)).toEqual([
    'audit',
    'audit/audit.head',
    'cli-token',
    'gatehouse.db',
    'policies',
    'policies/organisation.yaml',
    'secrets',
    'secrets/ops',
    'vault.key',
    'workspaces',
    'workspaces/bot',
    'workspaces/bot/a.txt',
  ])
  // A log that is older than the database would look cut off.
  expect(readFileSync(join(target, 'audit/audit.head'), 'utf8')).toBe('after the database')
  // Whichever of them the copy of the database needs.
  expect(readFileSync(join(target, 'vault.key'), 'utf8')).toBe('key of now\nkey of then\n')
  expect(statSync(join(target, 'vault.key')).mode & 0o777).toBe(0o600)
})

test('where the database lies elsewhere, everything but it is there, and which folders the node has', async () => {
  const dataDir = newFolder()
  mkdirSync(join(dataDir, 'audit'))
  writeFileSync(join(dataDir, 'audit/audit.head'), 'mark')
  mkdirSync(join(dataDir, 'workspaces/bot'), { recursive: true })
  writeFileSync(join(dataDir, 'workspaces/bot/a.txt'), 'a')
  writeFileSync(join(dataDir, 'workspaces/.site'), 'site-1')
  const parts = {
    dataDir,
    version: '1.2.3',
    node: 'node-1',
    engine: 'postgres',
    siteFile: '.site',
    copyLog: (folder: string) => cpSync(join(dataDir, 'audit'), folder, { recursive: true }),
    gates: () => [],
    copyDatabase: null,
  }
  const { signal } = new AbortController()
  const stream = createBackups(parts)
    .snapshot()
    .stream({ secret: testKey, withWorkspaces: false, signal })
  const file = join(newFolder(), 'made.backup')
  writeFileSync(file, await gather(stream))
  expect(await inspectBackup({ file, secret: testKey })).toMatchObject({
    engine: 'postgres',
    files: 2,
  })
  const target = join(newFolder(), 'new')
  await restoreBackup({ file, secret: testKey, target })
  expect(readdirSync(join(target, 'workspaces'))).toEqual(['.site'])
})
