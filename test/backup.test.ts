import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { Installation, invoke } from './support/server.ts'

const passphrase = 'correct horse battery'

type Integrity = { readonly integrity: string; readonly verified_through: number }
type Kept = Integrity & { readonly removed: { readonly entries: number } }

test('a backup made under load comes up elsewhere: the log is whole and tokens hold', async () => {
  await using here = new Installation()
  await using there = new Installation()
  const run = await here.start(['--no-first-agent'])
  const { token } = await here.createAgent('alpha')
  let loading = true
  let calls = 0
  const load = async (lane: number) => {
    while (loading) {
      const answer = await invoke(run, token, 'state.set', { key: `k${lane}`, value: calls })
      if (answer.result?.success) calls += 1
      else if (answer.error?.code !== -32000) throw new Error(JSON.stringify(answer))
    }
  }
  const lanes = [1, 2, 3, 4].map(load)
  const file = join(here.dataDir, 'made.backup')
  const made = await here.cli(['backup', file], `${passphrase}\n`)
  const during = calls
  loading = false
  await Promise.all(lanes)
  expect(made).toMatchObject({ code: 0, stderr: '' })
  expect(during).toBeGreaterThan(0)
  expect(statSync(file).mode & 0o777).toBe(0o600)
  // The content cannot be read in the file.
  const sealed = readFileSync(file)
  const secrets = [token, readFileSync(join(here.dataDir, 'cli-token'), 'utf8').trim(), 'SQLite']
  for (const secret of secrets) expect(sealed.includes(secret)).toBe(false)

  rmSync(there.dataDir, { recursive: true })
  const wrong = await there.cli(['restore', file, '--yes'], 'correct horse batterx\n')
  expect(wrong).toMatchObject({ code: 1, stderr: expect.stringContaining('passphrase is wrong') })
  const restored = await there.cli(['restore', file, '--yes'], `${passphrase}\n`)
  expect(restored).toMatchObject({ code: 0, stderr: '' })
  expect(restored.stdout).toContain('The log is verified.')
  const again = await there.cli(['restore', file, '--yes'], `${passphrase}\n`)
  expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining('is not empty') })

  await here.stop()
  const restarted = await there.start()
  const kept = await invoke(restarted, token, 'state.get', { key: 'k1' })
  expect(kept.result).toMatchObject({ success: true })
  const written = await invoke(restarted, token, 'filesystem.write', {
    path: 'a.txt',
    content: 'back',
  })
  expect(written.result).toMatchObject({ success: true })
  const verified = await there.json<Integrity>(['audit', 'verify'])
  expect(verified.integrity).toBe('verified')
  expect(verified.verified_through).toBeGreaterThan(10)
})

test('a server that is stopped is backed up as well, with a key file and its workspaces', async () => {
  await using here = new Installation()
  await using there = new Installation()
  const run = await here.start(['--no-first-agent'])
  const { token } = await here.createAgent('alpha')
  await invoke(run, token, 'filesystem.write', { path: 'a.txt', content: 'kept' })
  await here.stop()
  const keyFile = join(here.dataDir, 'backup.key')
  writeFileSync(keyFile, 'ab'.repeat(32))
  const file = join(here.dataDir, 'made.backup')
  const lock = ['--key-file', keyFile]
  const made = await here.cli(['backup', file, ...lock, '--with-workspaces'])
  expect(made).toMatchObject({ code: 0, stderr: '' })
  mkdirSync(there.dataDir, { recursive: true })
  const restored = await there.cli(['restore', file, ...lock, '--yes'])
  expect(restored).toMatchObject({ code: 0, stderr: '' })
  const found = await invoke(await there.start(), token, 'filesystem.read', { path: 'a.txt' })
  expect(found.result?.data).toMatchObject({ content: 'kept' })
})

test('a backup made after retention comes up elsewhere: the rest verifies from what was removed, and grows', async () => {
  await using here = new Installation()
  await using there = new Installation()
  writeFileSync(
    join(here.dataDir, 'gatehouse.yaml'),
    'audit:\n  retention:\n    max_bytes: 1048576\n',
  )
  const run = await here.start(['--no-first-agent'])
  const { token } = await here.createAgent('alpha')
  const fill = async (lane: number) => {
    for (let i = 0; i < 60; i += 1)
      await invoke(run, token, 'state.set', { key: `k${lane}`, value: `${i}`.padEnd(3_900, 'x') })
  }
  await Promise.all([1, 2, 3, 4, 5, 6].map(fill))
  await here.json(['audit', 'prune', '--yes'])
  const before = await here.json<Kept>(['audit', 'verify'])
  expect(before).toMatchObject({ integrity: 'verified', removed: { entries: expect.any(Number) } })
  const file = join(here.dataDir, 'made.backup')
  expect(await here.cli(['backup', file], `${passphrase}\n`)).toMatchObject({ code: 0, stderr: '' })
  await here.stop()

  rmSync(there.dataDir, { recursive: true })
  const restored = await there.cli(['restore', file, '--yes'], `${passphrase}\n`)
  expect(restored).toMatchObject({ code: 0, stderr: '' })
  expect(restored.stdout).toContain('The log is verified.')
  const removed = { removed: before.removed }
  expect(await there.json<Kept>(['audit', 'verify'])).toMatchObject({
    integrity: 'verified',
    ...removed,
  })
  const again = await there.start()
  await invoke(again, token, 'state.get', { key: 'k1' })
  const after = await there.json<Kept>(['audit', 'verify'])
  expect(after).toMatchObject({ integrity: 'verified', ...removed })
  expect(after.verified_through).toBeGreaterThan(before.verified_through)
  // What is gone is not found, and what is left is, in an export too.
  const exported = join(there.dataDir, 'audit.jsonl')
  await there.cli(['audit', 'export', '--output', exported])
  const verified = await there.json<Kept>(['audit', 'verify', '--export', exported])
  expect(verified).toMatchObject({ integrity: 'verified', ...removed })
})
