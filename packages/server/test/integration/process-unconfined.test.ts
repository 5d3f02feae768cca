import { chmodSync, existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createKit } from '@gatehouse/testkit'
import { expect, test } from 'vitest'
import { asking, dataOf, failureOf, freely, openProcessKit } from './process-kit.ts'

test('without any sandbox nothing runs, and the agent hears what is lacking', async () => {
  await using kit = await createKit({ policy: freely })
  await kit.agent('alpha')
  expect(failureOf(await kit.invoke('alpha', 'process.run', { command: 'true' }))).toBe(
    'SandboxUnavailable',
  )
  expect(dataOf<object>(await kit.invoke('alpha', 'process.list'))).toMatchObject({ total: 0 })
  const failed = await kit.invoke('alpha', 'process.run', { command: 'true', background: true })
  expect(failureOf(failed)).toBe('SandboxUnavailable')
  // A program that did not start leaves nothing behind.
  expect(dataOf<object>(await kit.invoke('alpha', 'process.list'))).toMatchObject({ total: 0 })
})

test('where an operator chose to go without, the person who approves and the log read so', async () => {
  await using kit = await openProcessKit(asking, {}, 'unconfined')
  const script = join(kit.workspace('alpha'), 'build.sh')
  writeFileSync(script, '#!/bin/sh\necho one\n')
  chmodSync(script, 0o755)
  const id = await kit.pending('alpha', 'process.run', { command: './build.sh' })
  const { preview } = await kit.app.showApproval(kit.operator(), { approval_id: id })
  expect(preview).toMatchObject({ text: expect.stringContaining('\nUNCONFINED: ') })
  await kit.decide(id, 'approve')
  expect((await kit.resolved('alpha', id)).result).toMatchObject({
    success: true,
    data: { stdout: 'one\n' },
  })
  const [entry] = await kit.audit({ agent: 'alpha', capability: 'process.run' })
  expect(entry?.detail).toMatchObject({ sandbox: 'unconfined' })

  const changed = await kit.pending('alpha', 'process.run', { command: 'sh', args: ['build.sh'] })
  writeFileSync(script, `touch ${join(kit.workspace('alpha'), 'MARK')}`)
  await expect(kit.decide(changed, 'approve')).rejects.toMatchObject({ type: 'ApprovalStale' })
  expect(existsSync(join(kit.workspace('alpha'), 'MARK'))).toBe(false)
})

test('a program is over once it has ended, also where one that it left behind holds its output', async () => {
  await using kit = await openProcessKit(freely, {}, 'unconfined')
  // It tells its number once it has left the group, which ends with the program.
  const left = `setsid sh -c 'echo $$ >pid; exec sleep 1000' & until [ -s pid ]; do sleep 0.01; done`
  const args = ['-c', `${left}; cat pid`]
  const ran = dataOf(await kit.invoke('alpha', 'process.run', { command: 'sh', args }))
  const pid = Number(ran.stdout)
  // A number that is missing would mean the group of the tests themselves.
  expect(pid).toBeGreaterThan(1)
  // It lives on: what leaves the group does not end with it.
  process.kill(pid, 'SIGKILL')
  expect(ran).toMatchObject({ state: 'completed', exit_code: 0 })
  const listed = dataOf<object>(await kit.invoke('alpha', 'process.list', { state: 'running' }))
  expect(listed).toMatchObject({ total: 0 })
})
