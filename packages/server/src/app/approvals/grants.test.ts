import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Remember } from '@gatehouse/contract'
import { createKit, type Kit } from '@gatehouse/testkit'
import { expect, test } from 'vitest'
import { transfer } from '../../../test/kit/transfer.ts'
import { createGrant } from './grants.ts'

const policy = `version: 1
rules:
  - { match: filesystem.append, tier: approval_required }
`
/** Refused where there is no such capability. */
const withTransfer = `${policy}  - { match: bank.transfer, tier: approval_required }\n`
const line = (text: string) => ({ path: 'log.txt', content: `${text}\n` })
const hour: Remember = { ttl_seconds: 3600, match: 'same_arguments' }

const withFile = async (kit: Kit, name = 'alpha'): Promise<() => string> => {
  await kit.agent(name)
  mkdirSync(kit.workspace(name), { recursive: true })
  const file = join(kit.workspace(name), 'log.txt')
  writeFileSync(file, '')
  return () => readFileSync(file, 'utf8')
}

/** Approves the call, remembers it, and hands its result over, so that the next call is a new one. */
const remembered = async (kit: Kit, args: object, remember: Remember): Promise<string> => {
  const id = await kit.pending('alpha', 'filesystem.append', args)
  await kit.decide(id, 'approve', { remember })
  await kit.resolved('alpha', id)
  const result = await kit.invoke('alpha', 'filesystem.append', args)
  expect(result.kind).toBe('succeeded')
  const { grants } = await kit.app.listGrants(kit.operator(), { all: false, limit: 10, offset: 0 })
  return String(grants[0]?.id)
}

const kindOf = async (kit: Kit, args: object, agent = 'alpha'): Promise<string> =>
  (await kit.invoke(agent, 'filesystem.append', args)).kind

test('a remembered call runs again without asking, and each use is on record with the grant', async () => {
  await using kit = await createKit({ policy })
  const text = await withFile(kit)
  const grant_id = await remembered(kit, line('a'), hour)
  expect(text()).toBe('a\n')
  expect(await kindOf(kit, line('a'))).toBe('succeeded')
  expect(await kindOf(kit, line('a'))).toBe('succeeded')
  expect(text()).toBe('a\na\na\n')
  const uses = (await kit.audit({ agent: 'alpha' })).filter(
    ({ kind, detail }) => kind === 'call' && detail?.grant_id === grant_id,
  )
  expect(uses.map(({ result }) => result).toReversed()).toEqual([
    'pending',
    'success',
    'pending',
    'success',
  ])
  expect(uses.every(({ policy_decision }) => policy_decision === 'approval_required')).toBe(true)
  const { events } = await kit.app.listActivity(kit.operator(), { limit: 9, offset: 0 })
  expect(events.map(({ type }) => type)).toEqual([
    'capability_invoked',
    'grant_used',
    'capability_invoked',
    'grant_used',
    ...events.slice(4).map(({ type }) => type),
  ])
  const intents = uses.filter(({ result }) => result === 'pending').map(({ id }) => id)
  const closed = uses.filter(({ result }) => result === 'success').map((use) => use.intent_id)
  expect(closed).toEqual(intents)
  const { grants } = await kit.app.listGrants(kit.operator(), { all: false, limit: 10, offset: 0 })
  expect(grants).toMatchObject([
    {
      id: grant_id,
      agent: 'alpha',
      capability: 'filesystem.append',
      match: 'same_arguments',
      arguments: line('a'),
      status: 'active',
      created_by: 'user:ana',
      uses: null,
      used: 2,
    },
  ])
})

test('a grant is shown with all that it is for, and so is its end; the log has both', async () => {
  await using kit = await createKit({ policy })
  await withFile(kit)
  const iso = (afterMs: number) => new Date(kit.clock.wall() + afterMs).toISOString()
  const [created_at, expires_at] = [iso(0), iso(3_600_000)]
  const remember: Remember = { ttl_seconds: 3600, match: 'same_capability', uses: 2 }
  const grant_id = await remembered(kit, line('a'), remember)
  const filter = { agent: 'alpha', all: true, limit: 10, offset: 0 }
  const list = async () => (await kit.app.listGrants(kit.operator(), filter)).grants
  const [first] = await list()
  const grant = {
    id: grant_id,
    agent: 'alpha',
    capability: 'filesystem.append',
    match: 'same_capability',
    arguments: null,
    approval_id: expect.stringMatching(/^appr-/) as string,
    status: 'active',
    created_at,
    created_by: 'user:ana',
    expires_at,
    uses: 2,
    used: 0,
    last_used_at: null,
    revoked_at: null,
    revoked_by: null,
  }
  expect(first).toEqual(grant)
  kit.clock.move(1_000)
  expect(await kindOf(kit, line('b'))).toBe('succeeded')
  const used = { ...grant, used: 1, last_used_at: iso(0) }
  expect(await list()).toEqual([used])
  kit.clock.move(1_000)
  await kit.app.revokeGrant(kit.operator('ben'), { grant_id })
  const ended = { status: 'revoked', revoked_at: iso(0), revoked_by: 'user:ben' }
  expect(await list()).toEqual([{ ...used, ...ended }])
  const others = { ...filter, agent: 'beta' }
  expect((await kit.app.listGrants(kit.operator(), others)).grants).toEqual([])
  const [revoked, created] = (await kit.audit()).filter(({ capability }) =>
    capability.startsWith('grant.'),
  )
  const { capability } = grant
  expect(created).toMatchObject({
    agent: 'alpha',
    approval_id: first?.approval_id,
    arguments: { grant_id, capability, ...remember },
  })
  expect(revoked).toMatchObject({
    agent: 'alpha',
    approval_id: first?.approval_id,
    arguments: { grant_id, capability },
  })
})

test('a grant for the same arguments says in the log which object it is for', async () => {
  await using kit = await createKit({ policy })
  await withFile(kit)
  await remembered(kit, line('a'), hour)
  const [created] = await kit.audit({ capability: 'grant.created' })
  expect(created?.arguments).toMatchObject({
    ...hour,
    object: expect.stringContaining('log.txt') as string,
    uses: null,
  })
})

test('after a remembered approval the same call first gets the result of what was approved', async () => {
  await using kit = await createKit({ policy })
  const text = await withFile(kit)
  await remembered(kit, line('a'), hour)
  expect(text()).toBe('a\n')
})

test('other arguments, another agent, another capability ask as before', async () => {
  await using kit = await createKit({ policy })
  await withFile(kit)
  await withFile(kit, 'beta')
  await remembered(kit, line('a'), hour)
  expect(await kindOf(kit, line('b'))).toBe('pending')
  expect(await kindOf(kit, line('a'), 'beta')).toBe('pending')
  const deletion = await kit.invoke('alpha', 'filesystem.delete', { path: 'log.txt' })
  expect(deletion.kind).toBe('pending')
  expect(await kindOf(kit, line('a'))).toBe('succeeded')
})

test('a grant for the capability lets other arguments run too, for its agent alone', async () => {
  await using kit = await createKit({ policy })
  const text = await withFile(kit)
  await withFile(kit, 'beta')
  await remembered(kit, line('a'), { ...hour, match: 'same_capability' })
  expect(await kindOf(kit, line('b'))).toBe('succeeded')
  expect(text()).toBe('a\nb\n')
  expect(await kindOf(kit, line('b'), 'beta')).toBe('pending')
})

test('what already waits still waits for its decision', async () => {
  await using kit = await createKit({ policy })
  const text = await withFile(kit)
  const waiting = await kit.pending('alpha', 'filesystem.append', line('b'))
  await remembered(kit, line('a'), { ...hour, match: 'same_capability' })
  expect(await kit.pending('alpha', 'filesystem.append', line('b'))).toBe(waiting)
  expect(text()).toBe('a\n')
})

test('a grant ends with its time, on the second', async () => {
  await using kit = await createKit({ policy })
  await withFile(kit)
  await remembered(kit, line('a'), { ...hour, ttl_seconds: 60 })
  kit.clock.move(59_999)
  expect(await kindOf(kit, line('a'))).toBe('succeeded')
  kit.clock.move(1)
  expect(await kindOf(kit, line('a'))).toBe('pending')
  const all = { all: true, limit: 10, offset: 0 }
  const { grants } = await kit.app.listGrants(kit.operator(), all)
  expect(grants).toMatchObject([{ status: 'expired', used: 1 }])
  expect((await kit.app.listGrants(kit.operator(), { ...all, all: false })).total).toBe(0)
})

test('a grant ends when it is revoked, once, with who did it', async () => {
  await using kit = await createKit({ policy })
  await withFile(kit)
  const grant_id = await remembered(kit, line('a'), hour)
  expect(await kindOf(kit, line('a'))).toBe('succeeded')
  const revoked = await kit.app.revokeGrant(kit.operator('ben'), { grant_id })
  expect(revoked).toMatchObject({ status: 'revoked', revoked_by: 'user:ben' })
  expect(await kindOf(kit, line('a'))).toBe('pending')
  expect(await kit.app.revokeGrant(kit.operator('eva'), { grant_id })).toEqual(revoked)
  const acts = (await kit.audit()).filter(({ capability }) => capability.startsWith('grant.'))
  expect(acts.map(({ capability, actor }) => `${capability} ${actor}`).toReversed()).toEqual([
    'grant.created user:ana',
    'grant.revoked user:ben',
  ])
  await expect(
    kit.app.revokeGrant(kit.operator(), { grant_id: 'grant-nothing' }),
  ).rejects.toMatchObject({ type: 'GrantNotFound', facts: { grant_id: 'grant-nothing' } })
})

test('of 50 calls at once exactly as many run as the grant has uses', async () => {
  await using kit = await createKit({ policy })
  const text = await withFile(kit)
  await remembered(kit, line('a'), { ...hour, match: 'same_capability', uses: 5 })
  const kinds = await Promise.all(
    Array.from({ length: 50 }, (_, i) => kindOf(kit, line(`run ${i}`))),
  )
  expect(kinds.filter((kind) => kind === 'succeeded')).toHaveLength(5)
  expect(kinds.filter((kind) => kind === 'pending')).toHaveLength(45)
  expect(text().match(/run/g)).toHaveLength(5)
  const all = { all: true, limit: 10, offset: 0 }
  const { grants } = await kit.app.listGrants(kit.operator(), all)
  expect(grants).toMatchObject([{ status: 'used_up', uses: 5, used: 5 }])
})

test('policy that blocks, and a pause, stop a remembered call', async () => {
  await using kit = await createKit({ policy })
  const text = await withFile(kit)
  await remembered(kit, line('a'), hour)
  await kit.app.pauseAgent(kit.operator(), { name: 'alpha' })
  expect(await kindOf(kit, line('a'))).toBe('denied')
  await kit.app.resumeAgent(kit.operator(), { name: 'alpha' })
  await kit.app.savePolicy(kit.operator(), {
    text: 'version: 1\nrules:\n  - { match: filesystem.append, tier: blocked }\n',
  })
  expect(await kindOf(kit, line('a'))).toBe('denied')
  expect(text()).toBe('a\n')
})

test('a revoked agent that comes back has no grants any more', async () => {
  await using kit = await createKit({ policy })
  await withFile(kit)
  await remembered(kit, line('a'), hour)
  await kit.app.revokeAgent(kit.operator(), { name: 'alpha' })
  const { token } = await kit.app.restoreAgent(kit.operator(), { name: 'alpha' })
  await kit.authenticate(token)
  expect(await kindOf(kit, line('a'))).toBe('pending')
})

test('a changed definition makes a grant void', async () => {
  await using kit = await createKit({ policy })
  await withFile(kit)
  const grant_id = await remembered(kit, line('a'), hour)
  const stored = await kit.storage.grants.find(grant_id)
  if (!stored) throw new Error('no grant')
  await kit.app.revokeGrant(kit.operator(), { grant_id })
  await kit.storage.grants.insert({ ...stored, id: 'grant-old', definition_hash: 'sha256:old' })
  expect(await kindOf(kit, line('a'))).toBe('pending')
  const { grants } = await kit.app.listGrants(kit.operator(), { all: false, limit: 9, offset: 0 })
  expect(grants).toMatchObject([{ id: 'grant-old', status: 'void' }])
})

test('whichever clock says first that its time is over ends a grant', async () => {
  await using kit = await createKit({ policy })
  await withFile(kit)
  const grant_id = await remembered(kit, line('a'), hour)
  const stored = (await kit.storage.grants.find(grant_id)) ?? expect.fail('no grant')
  const [now, wall] = [kit.clock.now(), kit.clock.wall()]
  const ends = {
    'grant-later': { expires_ms: now + 1, expires_wall_ms: wall + 1 },
    'grant-now': { expires_ms: now, expires_wall_ms: wall + 1 },
    'grant-wall': { expires_ms: now + 1, expires_wall_ms: wall },
  }
  for (const [id, end] of Object.entries(ends))
    await kit.storage.grants.insert({ ...stored, id, ...end })
  const { grants } = await kit.app.listGrants(kit.operator(), { all: true, limit: 9, offset: 0 })
  expect(Object.fromEntries(grants.map(({ id, status }) => [id, status]))).toEqual({
    [grant_id]: 'active',
    'grant-later': 'active',
    'grant-now': 'expired',
    'grant-wall': 'expired',
  })
})

test('what was changed between the decision and its memory is not remembered', async () => {
  await using kit = await createKit({ policy, runsApproved: false })
  await withFile(kit)
  const id = await kit.pending('alpha', 'filesystem.append', line('a'))
  const stored = (await kit.storage.approvals.find(id)) ?? expect.fail('nothing stored')
  const { registry, clock } = kit
  const deps = { clock, ids: kit.parts.ids, registry }
  for (const change of [
    { capability: 'filesystem.gone' },
    { bound_json: JSON.stringify({ definition_hash: 'sha256:old' }) },
  ])
    await expect(
      createGrant(kit.operator(), deps, {} as never, { ...stored, ...change }, hour),
    ).rejects.toMatchObject({
      type: 'RememberRefused',
      facts: { detail: expect.stringContaining('was changed meanwhile') as string },
    })
})

test('what is critical is never remembered, and a grant for it lets nothing run', async () => {
  await using kit = await createKit({ policy: withTransfer, capabilities: [transfer] })
  await withFile(kit)
  const id = await kit.pending('alpha', 'bank.transfer', { amount: 1 })
  const { digest } = await kit.app.showApproval(kit.operator(), { approval_id: id })
  await expect(kit.decide(id, 'approve', { digest, remember: hour })).rejects.toMatchObject({
    type: 'RememberRefused',
    message: expect.stringContaining('bank.transfer is critical') as string,
  })
  const { status } = await kit.app.showApproval(kit.operator(), { approval_id: id })
  expect(status).toBe('pending')
  expect(await kit.storage.grants.list({ limit: 9, offset: 0 })).toMatchObject({ total: 0 })
  const grant_id = await remembered(kit, line('a'), { ...hour, match: 'same_capability' })
  const stored = await kit.storage.grants.find(grant_id)
  if (!stored) throw new Error('no grant')
  const forged = { ...stored, id: 'grant-forged', capability: 'bank.transfer' }
  await kit.storage.grants.insert({ ...forged, definition_hash: transfer.definition_hash })
  expect((await kit.invoke('alpha', 'bank.transfer', { amount: 2 })).kind).toBe('pending')
  const none = { ...stored, id: 'grant-none', capability: 'bank.gone' }
  await kit.storage.grants.insert(none)
  const { grants } = await kit.app.listGrants(kit.operator(), { all: true, limit: 9, offset: 0 })
  const statuses = Object.fromEntries(grants.map(({ id: of, status: now }) => [of, now]))
  expect(statuses).toEqual({
    [grant_id]: 'active',
    'grant-forged': 'void',
    'grant-none': 'void',
  })
})
