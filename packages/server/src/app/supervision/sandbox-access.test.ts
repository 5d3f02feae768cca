import { createKit } from '@gatehouse/testkit'
import { expect, test } from 'vitest'
import type { Sandbox, SandboxState } from '../../ports/sandbox.ts'

const sandboxIn = (state: SandboxState): Sandbox => {
  const never = () => Promise.reject(new Error('nothing runs in this test'))
  const told = { state: () => state, probe: async () => state, ready: async () => undefined }
  return { ...told, spawn: never, run: never }
}

test.each([
  [
    { usable: true, backend: 'bubblewrap', detail: 'all' },
    { status: 'healthy', backend: 'bubblewrap' },
    { usable: true, backend: 'bubblewrap', detail: 'all', remedy: null },
    'healthy',
  ],
  [
    { usable: false, reason: 'no bubblewrap', remedy: 'install it' },
    { status: 'disabled', backend: 'none', reason: 'programs do not run: no bubblewrap' },
    { usable: false, backend: 'none', detail: 'no bubblewrap', remedy: 'install it' },
    'healthy',
  ],
  [
    { usable: true, backend: 'landlock', detail: 'no bubblewrap', remedy: 'install it' },
    { status: 'degraded', backend: 'landlock', reason: 'no bubblewrap' },
    { usable: true, backend: 'landlock', detail: 'no bubblewrap', remedy: 'install it' },
    'degraded',
  ],
  [
    { usable: true, backend: 'landlock', detail: 'rules' },
    { status: 'degraded', backend: 'landlock', reason: 'rules' },
    { usable: true, backend: 'landlock', detail: 'rules', remedy: expect.stringContaining('mode') },
    'degraded',
  ],
  [
    { usable: true, backend: 'unconfined', detail: 'an operator chose it' },
    { status: 'degraded', backend: 'unconfined', reason: 'an operator chose it' },
    {
      usable: true,
      backend: 'unconfined',
      detail: 'an operator chose it',
      remedy: expect.any(String),
    },
    'degraded',
  ],
] as const)('health and the probe tell of %j', async (state, component, report, whole) => {
  await using kit = await createKit({ sandbox: sandboxIn(state) })
  const health = await kit.app.health(kit.operator())
  expect(health.components.sandbox).toEqual(component)
  expect(health.status).toBe(whole)
  expect(await kit.app.probeSandbox(kit.operator())).toEqual(report)
})
