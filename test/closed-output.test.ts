import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { openSync } from 'node:fs'
import { platform } from 'node:process'
import { until } from '@gatehouse/testkit/until'
import { expect, test } from 'vitest'
import { bin, Installation, invoke } from './support/server.ts'

test('a server whose output nobody reads any more serves on, and counts what it could not log', async () => {
  await using gate = new Installation()
  const run = await gate.start()
  const { token } = await gate.createAgent('alpha')
  gate.closeOutput()
  // Each wrong token is a line of the log.
  for (let i = 0; i < 5; i += 1) await invoke(run, 'f'.repeat(64), 'agent.whoami')
  await until(async () => {
    const health = await gate.json<{ checks: { name: string; detail: string }[] }>(['doctor'])
    return /dropped/.test(health.checks.find(({ name }) => name === 'Log')?.detail ?? '')
  })
  expect((await invoke(run, token, 'agent.whoami')).result?.success).toBe(true)
  expect(await gate.stop()).toBe(0)
})

test('a server whose output is closed before it printed anything serves all the same', async () => {
  await using gate = new Installation()
  const run = await gate.start([], { closed: true })
  const { token } = await gate.createAgent('alpha')
  expect((await invoke(run, token, 'agent.whoami')).result?.success).toBe(true)
  expect(await gate.stop()).toBe(0)
})

test('a command whose reader has gone ends without a stack', async () => {
  await using gate = new Installation()
  await gate.start()
  const child = spawn(process.execPath, [bin, 'agent', 'list', '--data-dir', gate.dataDir], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  child.stdout.destroy()
  let errors = ''
  child.stderr?.on('data', (chunk) => {
    errors += chunk
  })
  await once(child, 'close')
  expect(errors).toBe('')
})

test.runIf(platform === 'linux')(
  'a command whose output cannot be written fails and says why',
  async () => {
    await using gate = new Installation()
    await gate.start()
    const child = spawn(process.execPath, [bin, 'agent', 'list', '--data-dir', gate.dataDir], {
      stdio: ['ignore', openSync('/dev/full', 'w'), 'pipe'],
    })
    let errors = ''
    child.stderr?.on('data', (chunk) => {
      errors += chunk
    })
    await once(child, 'close')
    expect([child.exitCode, errors]).toEqual([1, expect.stringMatching(/^error: .*ENOSPC.*\n$/)])
  },
)
