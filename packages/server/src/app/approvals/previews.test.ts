import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createKit, type Kit } from '@gatehouse/testkit'
import { describe, expect, test } from 'vitest'

const holding = (...names: readonly string[]): string => `version: 1
rules:
${names.map((name) => `  - { match: "${name}", tier: approval_required }`).join('\n')}
  - { match: "*", tier: autonomous }
`

const dataOf = async (kit: Kit, agent: string, capability: string, args: object = {}) => {
  const outcome = await kit.invoke(agent, capability, args)
  if (outcome.kind !== 'succeeded') throw new Error(JSON.stringify(outcome))
  return outcome.data
}

/** Preview of the call as a person who decides sees it; nothing of it has happened. */
const shown = async (
  kit: Kit,
  agent: string,
  capability: string,
  args: object,
): Promise<string> => {
  const id = await kit.pending(agent, capability, args)
  const approval = await kit.app.showApproval(kit.operator(), { approval_id: id })
  return approval.preview?.text ?? ''
}

const open = async (...held: readonly string[]): Promise<Kit> => {
  const kit = await createKit({ policy: holding(...held) })
  await kit.agent('alpha')
  await kit.agent('beta')
  return kit
}

describe('values', () => {
  test.each([
    ['shared', 'shared'],
    ['state', 'own'],
  ])('of %s are shown before and after', async (group, kind) => {
    await using kit = await open(`${group}.set`, `${group}.delete`)
    const area = group === 'shared' ? 'shared' : 'alpha'
    const op = kit.operator('ana')
    await kit.app.changeState(op, { agent: area, key: 'plan', value: { step: 1, left: 'b' } })
    const change = { key: 'plan', value: { step: 2, left: 'b' }, expected_version: 1 }
    const replaced = await shown(kit, 'alpha', `${group}.set`, { ...change, ttl_seconds: 60 })
    expect(replaced).toMatch(
      new RegExp(`^Replace the ${kind} value plan. It is at version 1, stored by user:ana at 2`),
    )
    expect(replaced).toContain('It is deleted again after 60 s.')
    expect(replaced).toContain('-  "step": 1,\n+  "step": 2,')
    const stale = await shown(kit, 'alpha', `${group}.set`, { ...change, expected_version: 7 })
    expect(stale).toContain('The call expects version 7, so it is refused as things stand.')
    const same = { ...change, value: { step: 1, left: 'b' } }
    expect(await shown(kit, 'alpha', `${group}.set`, same)).toContain('The value stays the same.')
    const fresh = await shown(kit, 'alpha', `${group}.set`, { key: 'new', value: 'x' })
    expect(fresh).toMatch(/^Create the .* value new. There is no such value now.\n/)
    expect(fresh).toContain('+"x"')
    const gone = await shown(kit, 'alpha', `${group}.delete`, { key: 'plan', expected_version: 1 })
    expect(gone).toContain(`Delete the ${kind} value plan. It is at version 1`)
    expect(gone).toContain('-  "step": 1,')
    const none = await shown(kit, 'alpha', `${group}.delete`, { key: 'none', expected_version: 2 })
    expect(none).toContain('There is no such value now.')
    expect(await kit.app.showState(op, { agent: area, key: 'plan' })).toMatchObject({
      version: 1,
      value: { step: 1 },
    })
  })

  test('that changed since they were shown are not replaced', async () => {
    await using kit = await open('state.set')
    await kit.app.changeState(kit.operator(), { agent: 'alpha', key: 'plan', value: 'first' })
    const id = await kit.pending('alpha', 'state.set', { key: 'plan', value: 'mine' })
    await kit.app.changeState(kit.operator(), { agent: 'alpha', key: 'plan', value: 'second' })
    await expect(kit.decide(id, 'approve')).rejects.toMatchObject({ type: 'ApprovalStale' })
    const anew = await kit.pending('alpha', 'state.set', { key: 'plan', value: 'mine' })
    expect(anew).not.toBe(id)
    await kit.decide(anew, 'approve')
    expect((await kit.resolved('alpha', anew)).result).toMatchObject({ success: true })
  })

  test('that are too long to compare are told by their length', async () => {
    await using kit = await open('state.set')
    const long = 'x'.repeat(300_000)
    const text = await shown(kit, 'alpha', 'state.set', { key: 'long', value: long })
    expect(text).toContain('After: 300003 characters.')
    expect(text.length).toBeLessThan(1_000)
  })

  test('of another agent are not shown', async () => {
    await using kit = await open('state.set')
    await kit.app.changeState(kit.operator(), { agent: 'beta', key: 'plan', value: 'beta only' })
    const text = await shown(kit, 'alpha', 'state.set', { key: 'plan', value: 1 })
    expect(text).not.toContain('beta only')
  })

  test('a key that no value can have is answered at once', async () => {
    await using kit = await open('state.set')
    const outcome = await kit.invoke('alpha', 'state.set', { key: 'a\nb', value: 1 })
    expect(outcome).toMatchObject({ kind: 'failed', error: { type: 'InvalidKey' } })
  })
})

describe('messages', () => {
  test('to one agent are shown in full', async () => {
    await using kit = await open('comms.send')
    const text = await shown(kit, 'alpha', 'comms.send', { to: 'beta', message: { state: 'red' } })
    expect(text).toMatch(
      /^Send to the agent beta \(priority normal, dropped where .* 604800 s\):\n/,
    )
    expect(text).toContain('"state": "red"')
    expect(await dataOf(kit, 'beta', 'comms.receive')).toMatchObject({ messages: [] })
  })

  test('to many name those who would get them', async () => {
    await using kit = await open('comms.broadcast')
    await kit.agent('gamma')
    await dataOf(kit, 'gamma', 'comms.subscribe', { channel: 'builds' })
    const all = await shown(kit, 'alpha', 'comms.broadcast', { message: 'to all' })
    expect(all).toContain('Broadcast to agents, 2 now: beta, gamma')
    expect(all).toContain('to all')
    const filter = { channel: 'builds' }
    expect(await shown(kit, 'alpha', 'comms.broadcast', { filter, message: 'x' })).toContain(
      'Broadcast to subscribers of the channel builds, 1 now: gamma',
    )
    const none = { filter: { channel: 'nobody' }, message: 'x' }
    expect(await shown(kit, 'alpha', 'comms.broadcast', none)).toContain('nobody would get it now')
    for (const agent of ['beta', 'gamma'])
      expect(await dataOf(kit, agent, 'comms.receive')).toMatchObject({ messages: [] })
  })

  test('that wait are shown, and go on waiting', async () => {
    await using kit = await open('comms.receive')
    await dataOf(kit, 'beta', 'comms.send', { to: 'alpha', message: 'first' })
    await dataOf(kit, 'beta', 'comms.send', { to: 'alpha', message: 'second' })
    const text = await shown(kit, 'alpha', 'comms.receive', { limit: 1 })
    expect(text).toContain('Receive 1 of 2 waiting messages.\nThe messages leave the mailbox.')
    expect(text).toMatch(/\n {2}from beta, normal, .*: first$/)
    const kept = await shown(kit, 'alpha', 'comms.receive', { acknowledge: false })
    expect(kept).toContain('Receive 2 of 2 waiting messages.\nThe messages stay in the mailbox.')
  })

  test('of a channel begin and end with its name', async () => {
    await using kit = await open('comms.unsubscribe')
    const { subscription_id } = await dataOf(kit, 'alpha', 'comms.subscribe', { channel: 'builds' })
    expect(await shown(kit, 'alpha', 'comms.unsubscribe', { subscription_id })).toContain(
      'to the channel builds.',
    )
    // Another agent's subscription is none.
    const foreign = await kit.invoke('beta', 'comms.unsubscribe', { subscription_id })
    expect(foreign).toMatchObject({ kind: 'failed', error: { type: 'SubscriptionNotFound' } })
    await using other = await open('comms.subscribe')
    expect(await shown(other, 'alpha', 'comms.subscribe', { channel: 'builds' })).toContain(
      'Subscribe to the channel builds.',
    )
  })
})

test('an alert is shown as people will read it, and the one that is closed with its message', async () => {
  await using kit = await open('alerts.acknowledge')
  const alert = { message: 'Disk is full', context: { disk: 'sda' } }
  const { alert_id } = await dataOf(kit, 'alpha', 'alerts.send', alert)
  await dataOf(kit, 'alpha', 'alerts.send', alert)
  expect(await shown(kit, 'alpha', 'alerts.acknowledge', { alert_id })).toMatch(
    /^Close the alert .* \(warning, open, raised 2 times, last at 2.*\):\nDisk is full$/,
  )
  const foreign = await kit.invoke('beta', 'alerts.acknowledge', { alert_id })
  expect(foreign).toMatchObject({ kind: 'failed', error: { type: 'AlertNotFound' } })
  await using other = await open('alerts.send')
  expect(await shown(other, 'alpha', 'alerts.send', alert)).toBe(
    'Alert the operators (warning):\nDisk is full\n{\n  "disk": "sda"\n}',
  )
  expect(await other.app.listAlerts(other.operator(), { limit: 10, offset: 0 })).toMatchObject({
    total: 0,
  })
})

test('the withdrawal of a request shows the request, and delivers nothing', async () => {
  await using kit = await open('approvals.cancel', 'filesystem.mkdir')
  const approval_id = await kit.pending('alpha', 'filesystem.mkdir', { path: 'out' })
  const text = await shown(kit, 'alpha', 'approvals.cancel', { approval_id })
  expect(text).toContain('The request asks for filesystem.mkdir out, since ')
  expect((await kit.storage.approvals.find(approval_id))?.status).toBe('pending')
  const done = await kit.pending('alpha', 'filesystem.mkdir', { path: 'done' })
  await kit.decide(done, 'reject')
  const later = await shown(kit, 'alpha', 'approvals.cancel', { approval_id: done })
  expect(later).toContain('It is rejected, so nothing is left to withdraw.')
  expect((await kit.storage.approvals.find(done))?.delivered).toBe('no')
  const foreign = await shown(kit, 'beta', 'approvals.cancel', { approval_id })
  expect(foreign).toContain('No details can be shown now: There is no approval')
  expect(foreign).not.toContain('mkdir')
})

test('a schedule is shown with its first run, and its deletion with what does not come', async () => {
  await using kit = await open('scheduler.create')
  const create = {
    capability: 'filesystem.list',
    arguments: { path: 'inbox' },
    schedule: '0 9 * * *',
    description: 'Look for mail',
  }
  const text = await shown(kit, 'alpha', 'scheduler.create', create)
  expect(text).toContain('Schedule filesystem.list inbox, at 0 9 * * * (cron fields, UTC).')
  expect(text).toMatch(/It would run first at 2.*T09:00:00\.000Z\.\nFor: Look for mail\n/)
  expect(await dataOf(kit, 'alpha', 'scheduler.list')).toMatchObject({ total: 0 })
  const wrong = { ...create, schedule: '61 9 * * *' }
  expect(await kit.invoke('alpha', 'scheduler.create', wrong)).toMatchObject({ kind: 'failed' })
  const unknown = { ...create, capability: 'nothing.there' }
  expect(await shown(kit, 'alpha', 'scheduler.create', unknown)).toContain(
    'No details can be shown now: There is no capability nothing.there.',
  )
  await using other = await open('scheduler.delete')
  const { schedule_id } = await dataOf(other, 'alpha', 'scheduler.create', create)
  const deletion = await shown(other, 'alpha', 'scheduler.delete', { schedule_id })
  expect(deletion).toContain('(active): filesystem.list inbox, at 0 9 * * * (cron fields, UTC).')
  expect(deletion).toMatch(/Its next run, at 2.*, and all later ones do not come\./)
  expect(await dataOf(other, 'alpha', 'scheduler.list', { status: 'active' })).toMatchObject({
    total: 1,
  })
})

test('a rotation shows what the secret is for, and nothing of one that the agent may not use', async () => {
  await using kit = await open('secrets.request_rotation')
  await kit.app.addSecret(kit.operator(), {
    name: 'token',
    value: 'a-value-that-nobody-shows',
    description: '',
    capabilities: ['network.credentialed_request'],
    hosts: ['api.example.org'],
    agents: ['alpha'],
  })
  const args = { secret_name: 'token', reason: 'It is refused.' }
  const text = await shown(kit, 'alpha', 'secrets.request_rotation', args)
  expect(text).toContain('It is used by network.credentialed_request for api.example.org.')
  expect(text).not.toContain('a-value')
  const foreign = await shown(kit, 'beta', 'secrets.request_rotation', args)
  expect(foreign).toContain('This agent may not use a secret of that name')
  expect(foreign).not.toContain('api.example.org')
})

test('what would be restored is shown, and where it would stand', async () => {
  await using kit = await open('filesystem.restore')
  await dataOf(kit, 'alpha', 'filesystem.write', { path: 'a.txt', content: 'four' })
  await dataOf(kit, 'alpha', 'filesystem.mkdir', { path: 'dir' })
  await dataOf(kit, 'alpha', 'filesystem.write', { path: 'dir/b', content: 'b' })
  const trashed = async (path: string, recursive = false) => {
    const outcome = await kit.invoke('alpha', 'filesystem.delete', { path, recursive })
    if (outcome.kind !== 'succeeded') throw new Error(JSON.stringify(outcome))
    return outcome.data['trash_id']
  }
  const file = await trashed('a.txt')
  const text = await shown(kit, 'alpha', 'filesystem.restore', { trash_id: file })
  expect(text).toMatch(
    /^Restore a file of 4 bytes, deleted at 2.*Z, to \/.*\/workspaces\/alpha\/a\.txt\.$/,
  )
  await dataOf(kit, 'alpha', 'filesystem.write', { path: 'c.txt', content: 'old' })
  const other = await trashed('c.txt')
  await dataOf(kit, 'alpha', 'filesystem.write', { path: 'c.txt', content: 'new' })
  const taken = await shown(kit, 'alpha', 'filesystem.restore', { trash_id: other })
  expect(taken).toContain('The path is taken now, so the call is refused')
  const folder = await trashed('dir', true)
  expect(await shown(kit, 'alpha', 'filesystem.restore', { trash_id: folder })).toContain(
    'Restore a directory (names in it: 1), deleted at',
  )
  const missing = { trash_id: 'trash-06d9k2m8q4vx7c1n5t3bzaehfw' }
  expect(await kit.invoke('alpha', 'filesystem.restore', missing)).toMatchObject({
    kind: 'failed',
    error: { type: 'TrashNotFound' },
  })
})

test('a look at the names of a host is shown as the question that it is', async () => {
  await using kit = await open('network.dns_lookup')
  expect(await shown(kit, 'alpha', 'network.dns_lookup', { hostname: 'example.org' })).toBe(
    'look up the addresses of example.org; its name servers learn of the question',
  )
})

test('a restore to a place that policy keeps from the call tells nothing of what lies in the trash', async () => {
  await using kit = await open('filesystem.restore')
  const trashed: unknown[] = []
  for (const path of ['secret/f', 'plain/f']) {
    await dataOf(kit, 'alpha', 'filesystem.write', { path, content: 'x', create_parents: true })
    trashed.push((await dataOf(kit, 'alpha', 'filesystem.delete', { path }))['trash_id'])
  }
  const floor = `  - { match: "filesystem.*", when: 'has(args.path) && args.path.startsWith("secret")', tier: blocked, floor: true }\n`
  const policy = holding('filesystem.restore').replace('rules:\n', `rules:\n${floor}`)
  writeFileSync(join(kit.folder, 'policies', 'organisation.yaml'), policy)
  await kit.parts.policy.reload()
  const [secret, plain] = trashed
  const refused = await kit.invoke('alpha', 'filesystem.restore', { trash_id: secret })
  expect(refused).toMatchObject({ kind: 'failed', error: { type: 'PathNotPermitted' } })
  expect(await shown(kit, 'alpha', 'filesystem.restore', { trash_id: plain })).toContain(
    '/plain/f.',
  )
})
