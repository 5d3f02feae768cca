import { once } from 'node:events'
import { copyFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { until } from '@gatehouse/testkit/until'
import { expect, test } from 'vitest'
import { Installation, invoke } from './support/server.ts'

const tokenOf = (output: string): string => /^ {2}([0-9a-f]{64})$/m.exec(output)?.[1] ?? ''

/** Starts, and waits for the message, which comes just after run.json. */
const startAndRead = async (gate: Installation) => {
  const run = await gate.start()
  await until(async () => /^In another terminal: [^]*\n$/m.test(gate.output))
  return run
}

test('the first agent is there at the first start, whatever ran before and however often it failed', async () => {
  await using gate = new Installation()
  const busy = createServer().listen(0, '127.0.0.1')
  await once(busy, 'listening')
  const { port } = busy.address() as { port: number }
  const { stderr: said } = await gate.cli(['agent', 'create', 'made-before'])
  expect(said).toBe(`A new Gatehouse is created in ${gate.dataDir}.\n`)
  expect((await gate.cli(['agent', 'create', 'made-too'])).stderr).toBe('')
  const examined = await gate.cli(['doctor'])
  expect([examined.code, examined.stdout]).toEqual([3, expect.stringContaining('none runs')])
  expect(examined.stdout).not.toContain('ealthy')
  await expect(gate.start(['--gateway-port', String(port)])).rejects.toThrow(
    `Port ${port} of 127.0.0.1, for the gateway, cannot be used: process ${process.pid}`,
  )
  expect(gate.output).toContain('--gateway-port PORT')
  busy.close()

  const run = await startAndRead(gate)
  const token = tokenOf(gate.output)
  expect(gate.output).toContain(`agent rotate first-agent --data-dir ${gate.dataDir}`)
  expect(gate.output).toContain(`Dashboard         ${run.dashboard_url}\n`)
  await gate.stop()

  // Without a connection yet: the token is not shown again, but how to connect is, and how to get a new one.
  await startAndRead(gate)
  expect(tokenOf(gate.output)).toBe('')
  expect(gate.output).toContain('Authorization: Bearer TOKEN')
  expect(gate.output).toContain('agent rotate first-agent')
  await gate.stop()

  const again = await startAndRead(gate)
  expect((await invoke(again, token, 'agent.whoami')).result?.success).toBe(true)
  await gate.stop()
  await startAndRead(gate)
  expect(gate.output).not.toContain('Bearer')
})

test('a first start on a busy port leaves nothing behind', async () => {
  await using gate = new Installation()
  const busy = createServer().listen(0, '127.0.0.1')
  await once(busy, 'listening')
  const { port } = busy.address() as { port: number }
  await expect(gate.start(['--user-api-port', String(port)])).rejects.toThrow('--user-api-port')
  expect(readdirSync(gate.dataDir)).toEqual([])
  busy.close()
})

test('a second start names the process that has the data', async () => {
  await using gate = new Installation()
  const run = await gate.start()
  await using second = new Installation(gate.dataDir)
  await expect(second.start()).rejects.toThrow(`Process ${run.pid} already uses the data in`)
})

test('data of PostgreSQL is not answered from an empty SQLite store, and the other way round', async () => {
  await using gate = new Installation()
  await gate.start()
  await gate.stop()
  const record = join(gate.dataDir, 'store.json')
  const stored = JSON.parse(readFileSync(record, 'utf8'))
  expect(stored).toMatchObject({ engine: 'sqlite', store_id: expect.stringMatching(/^store-/) })
  const before = readdirSync(gate.dataDir).toSorted()
  await expect(gate.start(['--database-url', 'postgres://127.0.0.1:1/none'])).rejects.toThrow(
    'is SQLite, and --database-url names PostgreSQL',
  )
  expect(readdirSync(gate.dataDir).toSorted()).toEqual(before)
  await using moved = new Installation()
  await moved.start()
  await moved.stop()
  // Restore by hand to the wrong place.
  copyFileSync(join(moved.dataDir, 'gatehouse.db'), join(gate.dataDir, 'gatehouse.db'))
  const changed = await gate.cli(['agent', 'list'])
  expect([changed.code, changed.stderr]).toEqual([
    1,
    expect.stringContaining('it is not as the service left it'),
  ])
  rmSync(join(gate.dataDir, 'gatehouse.db.sha256'))
  for (const line of [
    ['audit', 'verify'],
    ['agent', 'list'],
  ]) {
    const refused = await gate.cli(line)
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('StoreMismatch')])
  }
  writeFileSync(record, JSON.stringify({ ...stored, format: 99, version: '9.9.0' }), {
    mode: 0o600,
  })
  const newer = await gate.cli(['agent', 'list'])
  expect([newer.code, newer.stderr]).toEqual([1, expect.stringContaining('Gatehouse 9.9.0')])
})
