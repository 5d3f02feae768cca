import { spawnSync } from 'node:child_process'
import { readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { api, createBoth, flags, type Page, startGate } from './support/gates.ts'
import { OwnConnection } from './support/own-connection.ts'

const script = fileURLToPath(new URL('../scripts/verify_audit.py', import.meta.url))

test('a log that was shortened is found, named and taken by a person', async () => {
  await using here = await startGate()
  const { b, tokenB } = await createBoth(here)
  using ofB = new OwnConnection(here.run)
  for (let at = 0; at < 3; at += 1) await ofB.invoke(tokenB, 'agent.whoami')
  expect(await here.gate.stop()).toBe(0)
  // The log and all that the second process sealed over it is put back to its beginning.
  const folder = join(here.gate.dataDir, 'gates/1/audit')
  for (const name of ['audit.head', 'checkpoints.log']) rmSync(join(folder, name))
  for (const name of readdirSync(join(folder, 'segments')))
    if (name.endsWith('.log')) truncateSync(join(folder, 'segments', name), 4_096)

  const run = await here.gate.start(flags)
  const again = { gate: here.gate, run }
  expect(await api(again, 'POST', '/api/audit/verify')).toMatchObject({
    integrity: 'failed',
    kind: 'truncated',
    detail: expect.stringMatching(/the log of node-[0-9a-f]{12} is gone, up to the head/) as string,
  })
  expect(await api(again, 'POST', '/api/audit/acknowledge', { reason: 'a test' })).toMatchObject({
    integrity: 'verified',
  })
  // The log that is empty now gets an entry, and the end makes a root over both.
  using anew = new OwnConnection(run)
  await anew.invoke(tokenB, 'agent.whoami')
  const root = { logs: 2, root: expect.stringMatching(/^sha256:/) as string }
  expect(await here.gate.stop()).toBe(0)
  const both = { gate: here.gate, run: await here.gate.start(flags) }
  expect(await api<Page>(both, 'GET', '/api/audit')).toMatchObject({ integrity: 'verified', root })
  const file = join(here.gate.dataDir, 'export.jsonl')
  await here.gate.cli(['audit', 'export', '--output', file])
  expect(await here.gate.json(['audit', 'verify', '--export', file])).toMatchObject({ root })
  const python = spawnSync('python3', [script, file], { encoding: 'utf8' })
  if (!python.error) expect(JSON.parse(python.stdout)).toMatchObject({ root })

  // An entry of either log is proved to somebody who has the key of the first alone.
  const [of] = (await api<Page>(both, 'GET', `/api/audit?agent=${b}&limit=1`)).entries
  const proof = join(here.gate.dataDir, 'proof.json')
  writeFileSync(proof, (await here.gate.cli(['audit', 'prove', of?.id ?? ''])).stdout)
  const key = ['--public-key', join(here.gate.dataDir, 'audit/audit.pub')]
  expect(await here.gate.json(['audit', 'check-proof', proof, ...key])).toMatchObject({
    valid: true,
    entry: { agent: b },
    all_logs: { logs: 2 },
  })

  // One that is gone as a whole, with its keys, is missed too.
  expect(await here.gate.stop()).toBe(0)
  rmSync(join(here.gate.dataDir, 'gates'), { recursive: true })
  await here.gate.start(['--no-first-agent'])
  const verified = await here.gate.cli(['audit', 'verify', '--json'])
  expect(verified.code).not.toBe(0)
  expect(JSON.parse(verified.stdout)).toMatchObject({
    integrity: 'failed',
    kind: 'truncated',
    detail: expect.stringMatching(/^the log of node-[0-9a-f]{12} is gone/) as string,
  })
})
