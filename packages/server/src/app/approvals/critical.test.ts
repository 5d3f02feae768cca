import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Remember } from '@gatehouse/contract'
import { createKit, type Kit } from '@gatehouse/testkit'
import { expect, test } from 'vitest'

const rule = (more: string) =>
  `version: 1\nrules:\n  - { match: filesystem.append, tier: approval_required${more} }\n`
const plain = rule('')
const critical = rule(', critical: true')
const args = { path: 'log.txt', content: 'a' }
const hour: Remember = { ttl_seconds: 3600, match: 'same_capability' }

const withFile = async (kit: Kit): Promise<void> => {
  await kit.agent('alpha')
  mkdirSync(kit.workspace('alpha'), { recursive: true })
  writeFileSync(join(kit.workspace('alpha'), 'log.txt'), '')
}

const shown = (kit: Kit, approval_id: string) =>
  kit.app.showApproval(kit.operator(), { approval_id })

test('a rule makes its calls critical: the digest is needed, and nothing is remembered or changed', async () => {
  await using kit = await createKit({ policy: critical })
  await withFile(kit)
  const id = await kit.pending('alpha', 'filesystem.append', args)
  const { digest, critical: isCritical } = await shown(kit, id)
  expect(isCritical).toBe(true)
  await expect(kit.decide(id, 'approve')).rejects.toMatchObject({ type: 'ApprovalDigestMismatch' })
  await expect(kit.decide(id, 'approve', { digest, remember: hour })).rejects.toMatchObject({
    type: 'RememberRefused',
  })
  const edited = { digest, arguments: { ...args, content: 'b' } }
  await expect(kit.decide(id, 'approve', edited)).rejects.toMatchObject({ type: 'EditRefused' })
  expect((await kit.decide(id, 'approve', { digest })).kind).toBe('decided')
})

test('a change that would make a call critical is refused', async () => {
  const policy = rule(`, critical: true, when: 'args.content == "b"'`)
  await using kit = await createKit({ policy: `${policy}${plain.split('\n')[2]}\n` })
  await withFile(kit)
  const id = await kit.pending('alpha', 'filesystem.append', args)
  expect((await shown(kit, id)).critical).toBe(false)
  const edited = { arguments: { ...args, content: 'b' } }
  await expect(kit.decide(id, 'approve', edited)).rejects.toMatchObject({ type: 'EditRefused' })
  expect((await kit.decide(id, 'approve')).kind).toBe('decided')
})

test('a grant and a request from before the rule let nothing run', async () => {
  await using kit = await createKit({ policy: plain })
  await withFile(kit)
  const first = await kit.pending('alpha', 'filesystem.append', args)
  await kit.decide(first, 'approve', { remember: hour })
  await kit.resolved('alpha', first)
  expect((await kit.invoke('alpha', 'filesystem.append', args)).kind).toBe('succeeded')
  expect((await kit.invoke('alpha', 'filesystem.append', args)).kind).toBe('succeeded')
  const { grants } = await kit.app.listGrants(kit.operator(), { all: false, limit: 9, offset: 0 })
  await kit.app.revokeGrant(kit.operator(), { grant_id: grants[0]?.id ?? '' })
  const waiting = await kit.pending('alpha', 'filesystem.append', args)
  await kit.storage.grants.insert({
    ...((await kit.storage.grants.find(grants[0]?.id ?? '')) ?? expect.fail('no grant')),
    ...{ id: 'grant-again', revoked_ms: null, revoked_by: null },
  })
  await kit.app.savePolicy(kit.operator(), { text: critical })
  await expect(kit.decide(waiting, 'approve')).rejects.toMatchObject({
    type: 'ApprovalStale',
    message: expect.stringContaining('policy calls it critical by now') as string,
  })
  const again = await kit.pending('alpha', 'filesystem.append', args)
  expect(again).not.toBe(waiting)
  expect(await shown(kit, again)).toMatchObject({ critical: true, status: 'pending' })
  expect(await shown(kit, waiting)).toMatchObject({
    status: 'cancelled',
    decision_reason: expect.stringContaining('policy calls it critical') as string,
  })
})

test('a page left open approves nothing critical: the login is of the last 15 minutes', async () => {
  await using kit = await createKit({ policy: critical })
  await withFile(kit)
  const password = 'correct horse battery'
  const { token } = await kit.app.createSetupLink(kit.operator())
  const address = '127.0.0.1'
  const { id: cookie } = await kit.app.setUp(kit.operator(), { token, password, address })
  const id = await kit.pending('alpha', 'filesystem.append', args)
  const { digest } = await shown(kit, id)
  const opOf = async (login: string) => {
    const actor = (await kit.app.authenticateWebSession(login))?.actor
    if (!actor) throw new Error('not logged in')
    return { ...kit.operator(), actor }
  }
  const decideAs = async (login: string, decision: 'approve' | 'reject') =>
    kit.app.decideApproval(await opOf(login), { approval_id: id, decision, digest })
  kit.clock.move(15 * 60_000 + 1)
  await expect(decideAs(cookie, 'approve')).rejects.toMatchObject({
    type: 'LoginTooOld',
    facts: { approval_id: id, minutes: 15 },
  })
  const many = { ids: [id], decision: 'approve', digests: { [id]: digest } } as const
  expect(await kit.app.decideApprovals(await opOf(cookie), many)).toMatchObject([
    { id, outcome: 'login_too_old', approval: { id, status: 'pending' } },
  ])
  expect((await shown(kit, id)).status).toBe('pending')
  const { id: fresh } = await kit.app.login(kit.operator(), { password, address })
  expect((await decideAs(fresh, 'approve')).kind).toBe('decided')
})
