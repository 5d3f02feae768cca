import type { EnginePackage } from '@gatehouse/contract'
import { expect, test } from 'vitest'
import { HandClock, silent } from '../../log/testing.ts'
import { EngineSetupRun } from './engine-setup-run.ts'

const op = { actor: { kind: 'system' }, request_id: 'r', session_id: null } as never
const missing: EnginePackage = {
  installed: false,
  version: '1.0.0',
  problem: 'it is not installed',
  remedy: null,
}

test('installs once for a request that comes while another one looks whether it is there', async () => {
  let installed = 0
  let second: Promise<unknown> | undefined
  const run = new EngineSetupRun({
    clock: new HandClock(),
    log: silent,
    auditLog: { transaction: async () => undefined } as never,
    changed: () => {},
    signal: new AbortController().signal,
    installer: {
      async state() {
        await Promise.resolve()
        second ??= run.begin(op)
        return missing
      },
      async install() {
        installed += 1
      },
    },
  })
  const first = await run.begin(op)
  expect(first).toMatchObject({ status: 'running' })
  expect(await second).toEqual(first)
  await run.stopped()
  expect([installed, run.state.status]).toEqual([1, 'done'])
})

test('looks again after a look that failed', async () => {
  let looks = 0
  const run = new EngineSetupRun({
    clock: new HandClock(),
    log: silent,
    auditLog: {} as never,
    changed: () => {},
    signal: new AbortController().signal,
    installer: {
      async state() {
        looks += 1
        if (looks === 1) throw new Error('the disk is away')
        return { ...missing, installed: true, problem: null }
      },
      install: async () => {},
    },
  })
  await expect(run.begin(op)).rejects.toThrow('the disk is away')
  expect(await run.begin(op)).toMatchObject({ status: 'done' })
})
