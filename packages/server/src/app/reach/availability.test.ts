import { expect, test } from 'vitest'
import type { StoredService } from '../../ports/services.ts'
import { Availability } from './availability.ts'

const usable = { usable: true, backend: 'bubblewrap', detail: '' } as const

const build = (here: { git?: boolean; services?: readonly Partial<StoredService>[] } = {}) =>
  new Availability({
    storage: {
      services: { list: async () => (here.services ?? []) as readonly StoredService[] },
    } as never,
    sandbox: { state: () => usable },
    git: { installed: () => here.git ?? true },
    secrets: { listFor: async () => [] },
    vault: { list: async () => [] },
    runsModels: async () => false,
    outOfService: () => [],
  })

test('git cannot work where the program is not installed, and can once it is', async () => {
  const without = build({ git: false })
  expect(await without.lacking('alpha')).toContain('git')
  expect(await without.lacking('alpha')).not.toContain('process')
  expect(await build().lacking('alpha')).not.toContain('git')
  expect(await without.signature()).not.toBe(await build().signature())
})

test('a service serves the agents that it is for, while it is connected', async () => {
  const mail = { name: 'post', kind: 'mail', agents: ['alpha'], status: 'connected' } as const
  const here = build({ services: [mail] })
  expect(await here.lacking('alpha')).not.toContain('email')
  expect(await here.lacking('beta')).toContain('email')
  const gone = build({ services: [{ ...mail, status: 'disconnected' }] })
  expect(await gone.lacking('alpha')).toContain('email')
})
