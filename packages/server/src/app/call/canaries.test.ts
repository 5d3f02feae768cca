import { GatehouseError } from '@gatehouse/contract'
import { createKit } from '@gatehouse/testkit'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { defineCapability } from '../../capabilities/define.ts'

const value = 'CANARY-SEC-k3v9 "q"/+ü'
const hex = Buffer.from(value).toString('hex')
const base64 = Buffer.from(`x${value}`).toString('base64')
const pieces = ['k3v9', hex.slice(22, 40), hex.slice(22, 40).toUpperCase(), base64.slice(18, 30)]
const policy = `version: 1
rules:
  - { match: test.leak, when: args.how == "held", tier: approval_required }
  - { match: test.leak, tier: autonomous }
`

/** Does all that a capability should not do with a secret. */
const leak = defineCapability({
  title: 'Leak',
  name: 'test.leak',
  version: '1.0',
  purpose: 'Says what it was told.',
  when_to_use: 'Never.',
  inputs: z.strictObject({ how: z.string(), name: z.string().default('canary') }),
  outputs: z.looseObject({}),
  tier: 'autonomous',
  effect: 'immediate',
  errors: ['FileNotFound', 'SecretNotAllowed'],
  text: (data) => `I was told ${String(data['said'])}, that is ${hex} and ${value}`,
  run: (ctx, { how, name }) =>
    ctx.secrets.use(name, null, async (told) => {
      ctx.note({ url: `https://example.org/?t=${encodeURIComponent(told)}`, [told]: 1 })
      ctx.progress(1, 2, `half of ${told}`)
      if (how === 'typed') throw new GatehouseError('FileNotFound', { path: `/${told}/${hex}` })
      if (how === 'untyped') throw new Error(`no ${told}`)
      return { said: told, list: [hex.toUpperCase(), { [base64]: JSON.stringify({ told }) }] }
    }),
})

const kitWithCanary = async () => {
  const kit = await createKit({ capabilities: [leak], policy })
  await kit.agent('coder')
  await kit.app.addSecret(kit.operator(), {
    name: 'canary',
    value,
    description: '',
    capabilities: ['test.*'],
    hosts: [],
    agents: ['coder'],
  })
  return kit
}

const leaksIn = (text: string): string[] => pieces.filter((piece) => text.includes(piece))

/** Everything that was stored or told. */
const everything = async (kit: Awaited<ReturnType<typeof kitWithCanary>>, ...more: unknown[]) => {
  const { entries } = await kit.app.queryAudit(kit.operator(), { limit: 1000, offset: 0 })
  const activity = await kit.app.listActivity(kit.operator(), { limit: 500, offset: 0 })
  const { approvals } = await kit.app.listApprovals(kit.operator(), { limit: 100, offset: 0 })
  const secrets = await kit.app.listSecrets(kit.operator())
  return JSON.stringify([entries, activity, approvals, secrets, ...more])
}

test.each(['result', 'typed', 'untyped'])(
  'a secret leaves in nothing that a call comes to: %s',
  async (how) => {
    await using kit = await kitWithCanary()
    const told: unknown[] = []
    using _events = kit.app.subscribeEvents('coder', (event) => told.push(event) > 0)
    const outcome = await kit
      .invoke('coder', 'test.leak', { how }, { progress: (...said) => void told.push(said) })
      .catch((cause: Error) => ({ kind: 'thrown', message: cause.message }))
    expect(outcome.kind).toBe(
      how === 'result' ? 'succeeded' : how === 'typed' ? 'failed' : 'thrown',
    )
    const text = await everything(kit, outcome, told)
    expect(leaksIn(text)).toEqual([])
    expect(text).toContain('half of [secret:canary]')
    expect(text).toContain('https://example.org/?t=[secret:canary]')
  },
)

test('a secret leaves in nothing that an approved call comes to, either', async () => {
  await using kit = await kitWithCanary()
  const told: unknown[] = []
  using _events = kit.app.subscribeEvents('coder', (event) => told.push(event) > 0)
  using _people = kit.app.subscribeApprovals((approval) => void told.push(approval))
  const id = await kit.pending('coder', 'test.leak', { how: 'held' })
  await kit.decide(id, 'approve')
  const outcome = await kit.resolved('coder', id)
  const text = await everything(kit, outcome, told)
  expect(leaksIn(text)).toEqual([])
  expect(text).toContain('[secret:canary]')
})

test('what is recorded and told beside the gate holds no secret, either', async () => {
  await using kit = await kitWithCanary()
  await kit.invoke('coder', 'test.leak', { how: 'result' })
  const message = `The host answered ${value}, and ${hex}.`
  await kit.invoke('coder', 'alerts.send', { message, context: { [hex]: base64 } })
  await kit.invoke('coder', 'filesystem.read', { path: value })
  const { entries } = await kit.app.queryAudit(kit.operator(), { limit: 100, offset: 0 })
  expect(entries.map(({ capability }) => capability)).toContain('alerts.send')
  expect(leaksIn(JSON.stringify(entries))).toEqual([])
})

test('a secret that is a word renames nobody', async () => {
  await using kit = await kitWithCanary()
  await kit.agent('production')
  await kit.app.rotateSecret(kit.operator(), { name: 'canary', value: 'production' })
  await kit.invoke('coder', 'test.leak', { how: 'result' })
  const outcome = await kit.invoke('production', 'state.set', { key: 'a', value: 'in production' })
  expect(outcome.kind).toBe('succeeded')
  const [entry] = await kit.audit({ agent: 'production', capability: 'state.set' })
  expect(entry).toMatchObject({
    actor: 'agent:production',
    arguments: { value: 'in [secret:canary]' },
  })
})

test('what holds no secret is answered as it is', async () => {
  await using kit = await kitWithCanary()
  await kit.invoke('coder', 'test.leak', { how: 'result' })
  const outcome = await kit.invoke('coder', 'state.set', { key: 'a', value: 'CANARY-SEC-other' })
  expect(outcome.kind).toBe('succeeded')
  const read = await kit.invoke('coder', 'state.get', { key: 'a' })
  expect(read).toMatchObject({ data: { value: 'CANARY-SEC-other' } })
})

test('a secret is listed for its agents alone, and asking for a new one tells people', async () => {
  await using kit = await kitWithCanary()
  await kit.agent('mailbot')
  const list = async (agent: string) => {
    const outcome = await kit.invoke(agent, 'secrets.list')
    return outcome.kind === 'succeeded' ? outcome.data : null
  }
  expect(await list('mailbot')).toEqual({ secrets: [], total: 0 })
  expect(await list('coder')).toEqual({
    secrets: [{ name: 'canary', description: '', capabilities: ['test.*'], hosts: [] }],
    total: 1,
  })
  const wish = { secret_name: 'canary', reason: 'It is refused since this morning.' }
  expect(await kit.invoke('mailbot', 'secrets.request_rotation', wish)).toMatchObject({
    kind: 'failed',
    error: { type: 'SecretNotAllowed' },
  })
  const asked = await kit.invoke('coder', 'secrets.request_rotation', wish)
  expect(asked).toMatchObject({ kind: 'succeeded', data: { secret_name: 'canary' } })
  const { alerts } = await kit.app.listAlerts(kit.operator(), { limit: 10, offset: 0 })
  expect(alerts).toMatchObject([{ kind: 'secret_rotation', source: 'agent:coder' }])
  expect(await kit.app.showSecret(kit.operator(), { name: 'canary' })).toMatchObject({
    rotation_request: { agent: 'coder', reason: wish.reason },
  })
})

test('a locked vault holds up only what needs a secret, and health says what to do', async () => {
  await using kit = await kitWithCanary()
  await kit.app.lockVault(kit.operator())
  expect(await kit.invoke('coder', 'test.leak', { how: 'result' })).toMatchObject({
    kind: 'failed',
    error: { type: 'VaultLocked' },
  })
  expect((await kit.invoke('coder', 'secrets.list')).kind).toBe('succeeded')
  expect((await kit.invoke('coder', 'system.time')).kind).toBe('succeeded')
  const { status, components, reasons } = await kit.app.health(kit.operator())
  expect({ status, vault: components.vault }).toMatchObject({
    status: 'degraded',
    vault: { status: 'degraded', locked: true },
  })
  expect(reasons.join()).toContain('gatehouse vault unlock')
  expect(kit.app.readiness()).not.toBe('healthy')
  await kit.app.unlockVault(kit.operator(), {})
  expect((await kit.invoke('coder', 'test.leak', { how: 'result' })).kind).toBe('succeeded')
})
