import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createKit } from '@gatehouse/testkit'
import { expect, test } from 'vitest'

test('names every part of the contract, and says of what is not there that it is not', async () => {
  await using kit = await createKit()
  await kit.agent('mailbot')
  kit.clock.move(61_000)
  const { status, reasons, components, resources } = await kit.app.health(kit.operator())
  expect({ status, reasons }).toEqual({ status: 'healthy', reasons: [] })
  expect(components).toMatchObject({
    gateway: { status: 'disabled', uptime: 61 },
    vault: { status: 'healthy', locked: false },
    audit: { status: 'healthy', entries: 2 },
    proxy: { status: 'healthy', services: 0 },
    dashboard: { status: 'disabled' },
    policy: { status: 'healthy' },
    storage: { status: 'healthy', engine: 'sqlite' },
  })
  for (const percent of Object.values(resources)) {
    expect(percent).toBeGreaterThanOrEqual(0)
    expect(percent).toBeLessThanOrEqual(100)
  }
})

test('is not ready before the listeners are open and once they close', async () => {
  await using kit = await createKit()
  const { listeners } = kit.app
  const look = async () => {
    const { status, components } = await kit.app.health(kit.operator())
    return [kit.app.readiness(), status, components.gateway.status, components.dashboard.status]
  }
  listeners.expect('gateway')
  expect(await look()).toEqual(['unhealthy', 'unhealthy', 'unhealthy', 'disabled'])
  listeners.opened('gateway')
  listeners.ready()
  expect(await look()).toEqual(['healthy', 'healthy', 'healthy', 'disabled'])
  listeners.opened('dashboard', () => ({
    status: 'degraded',
    reason: 'its certificate has expired',
  }))
  expect((await kit.app.health(kit.operator())).reasons).toEqual([
    'The dashboard is degraded: its certificate has expired',
  ])
  listeners.stopping()
  expect(await look()).toEqual(['unhealthy', 'unhealthy', 'unhealthy', 'unhealthy'])
})

test('says in the status what the health report says, with the reasons', async () => {
  let isBroken = false
  await using kit = await createKit({
    storage: (opened) => ({
      ...opened,
      clock: {
        read: () => (isBroken ? Promise.reject(new Error('gone')) : opened.clock.read()),
      },
    }),
  })
  const look = async () => {
    const { status, reasons } = await kit.app.health(kit.operator())
    const { health, health_reasons } = await kit.app.status(kit.operator())
    expect({ status: health, reasons: health_reasons }).toEqual({ status, reasons })
    return { status, reasons }
  }
  const { listeners } = kit.app
  listeners.expect('gateway')
  listeners.opened('gateway')
  listeners.ready()
  expect(await look()).toEqual({ status: 'healthy', reasons: [] })
  // Parts that no probe asks.
  listeners.opened('dashboard', () => ({ status: 'degraded', reason: 'it has expired' }))
  expect(await look()).toEqual({
    status: 'degraded',
    reasons: ['The dashboard is degraded: it has expired'],
  })
  isBroken = true
  expect((await look()).status).toBe('unhealthy')
  isBroken = false
  listeners.opened('dashboard')
  writeFileSync(join(kit.folder, 'policies', 'organisation.yaml'), 'version: 2\n')
  await kit.parts.policy.reload()
  expect((await look()).reasons[0]).toMatch(/^The policy is degraded: organisation\.yaml:1:/)
})

test('asks the store, and does not wait for one that never answers', async () => {
  let broken: 'no' | 'fails' | 'hangs' = 'no'
  await using kit = await createKit({
    storage: (opened) => ({
      ...opened,
      clock: {
        read: () => {
          if (broken === 'fails') return Promise.reject(new Error('the disk is gone'))
          return broken === 'hangs' ? new Promise(() => {}) : opened.clock.read()
        },
      },
    }),
  })
  broken = 'fails'
  expect((await kit.app.health(kit.operator())).reasons).toEqual([
    'The store is unhealthy: it does not answer',
  ])
  broken = 'hangs'
  let answered = false
  const asked = kit.app.health(kit.operator()).finally(() => {
    answered = true
  })
  while (!answered) {
    kit.clock.move(2_000)
    await new Promise((resolve) => setImmediate(resolve))
  }
  expect((await asked).components.storage).toMatchObject({ status: 'unhealthy' })
  broken = 'no'
})
