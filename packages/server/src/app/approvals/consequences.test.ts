import { createKit } from '@gatehouse/testkit'
import { expect, test } from 'vitest'
import { createRegistry } from '../../capabilities/registry.ts'
import { standardCapabilities } from '../../capabilities/standard.ts'
import type { SandboxState } from '../../ports/sandbox.ts'
import type { ServiceAdapter } from '../../ports/service-adapter.ts'
import { createCalendarAdapter } from '../../proxy/adapters/calendar/calendar-adapter.ts'
import { createMailAdapter } from '../../proxy/adapters/mail/mail-adapter.ts'
import { foreseeWrite } from '../proxy/foresee-write.ts'
import { consequencesOf } from './consequences.ts'

const registry = createRegistry(standardCapabilities)
const confined: SandboxState = { usable: true, backend: 'bubblewrap', detail: 'all' }

const adapters = new Map<string, ServiceAdapter>(
  [createMailAdapter(), createCalendarAdapter()].map((adapter) => [adapter.kind, adapter]),
)

const settings = {
  'proxy.delays': new Map([['mail.send', 5]]),
  'proxy.rollback_kept': 72 * 3_600_000,
  'proxy.sync_every': null,
  'proxy.burst_limit': 20,
  'proxy.burst_window': 60_000,
}

const consequences = (
  name: string,
  args: Readonly<Record<string, unknown>> = {},
  state: SandboxState = confined,
) =>
  consequencesOf(
    {
      registry,
      sandbox: { state: () => state },
      foreseeWrite: (capability) => foreseeWrite({ adapters, settings }, capability),
    },
    name,
    args,
  )

test.each([
  ['filesystem.delete', { path: 'a' }, 'It stays in the trash for 7 days'],
  ['filesystem.move', { overwrite: false }, 'Move it back'],
  ['filesystem.move', { overwrite: true }, null],
  ['filesystem.copy', { overwrite: true }, null],
  ['filesystem.write', { path: 'a' }, null],
  ['git.branch', { action: 'switch' }, 'Switch back'],
  ['git.merge', { abort: true }, null],
  ['git.push', {}, null],
  ['network.http_request', {}, null],
])('says how %s with %j is undone', (name, args, undo) => {
  expect(consequences(name, args)).toMatchObject({
    held_seconds: null,
    undo: undo === null ? null : expect.stringContaining(undo),
  })
})

test('a buffered write is held as its adapter or the configuration says, and undone as its operation can be', () => {
  expect(consequences('email.send')).toMatchObject({
    effect: 'buffered',
    held_seconds: 5,
    undo: null,
  })
  expect(consequences('email.delete')).toMatchObject({
    held_seconds: 30,
    undo: expect.stringMatching(/^For 72h after it ran, writes\.rollback undoes it\. \w/),
  })
})

test('nothing that can be undone is without a way, and nothing that cannot has one', () => {
  for (const { name, effect, side_effects, undo } of standardCapabilities) {
    const reversible = side_effects.some((one) => one.reversible)
    const isHeld = consequences(name)?.held_seconds !== null
    expect([name, isHeld]).toEqual([name, effect === 'buffered'])
    if (effect === 'immediate' && name !== 'network.download')
      expect([name, undo !== undefined]).toEqual([name, reversible])
  }
})

test.each([
  ['process.run', confined, true],
  ['git.commit', confined, true],
  ['process.run', { usable: true, backend: 'landlock', detail: 'rules' }, true],
  ['process.run', { usable: true, backend: 'unconfined', detail: 'chosen' }, false],
  ['git.commit', { usable: true, backend: 'unconfined', detail: 'chosen' }, false],
  ['process.run', { usable: false, reason: 'none', remedy: 'install it' }, null],
  ['process.kill', confined, null],
  ['filesystem.delete', confined, null],
  ['client.shell', confined, false],
] as const)('whether %s is sandboxed with %j is %j', (name, state, sandboxed) => {
  expect(consequences(name, { action: 'list' }, state)).toMatchObject({ sandboxed })
})

test('the record tells it when it is shown, and the digest binds nothing of it', async () => {
  await using kit = await createKit()
  await kit.agent('alpha')
  await kit.run('alpha', 'filesystem.write', { path: 'a.txt', content: 'a' })
  const approval_id = await kit.pending('alpha', 'filesystem.delete', { path: 'a.txt' })
  const { consequences: told } = await kit.app.showApproval(kit.operator(), { approval_id })
  expect(told).toEqual(consequences('filesystem.delete'))
  const stored = await kit.storage.approvals.find(approval_id)
  expect(JSON.stringify(stored)).not.toContain('stays in the trash')
})

test('of a capability that is gone nothing is told', () => {
  expect(consequences('nothing.here')).toBeNull()
})
