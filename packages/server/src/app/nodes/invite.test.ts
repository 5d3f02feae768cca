import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createKit, type Kit } from '@gatehouse/testkit'
import { expect, test } from 'vitest'

const certificate = {
  origin: 'local' as const,
  names: ['one.example'],
  valid_from: '2026-01-01T00:00:00.000Z',
  valid_until: '2027-01-01T00:00:00.000Z',
  authority: null,
}

/** A server on a store that nodes can share. */
const openKit = async (): Promise<Kit> => {
  const kit = await createKit({
    storage: (opened) => ({ ...opened, isShared: true, isNetworked: true }),
  })
  writeFileSync(join(kit.folder, 'vault.key'), 'the key\n', { mode: 0o600 })
  kit.app.listeners.page = 'https://one.example:7800/'
  kit.app.listeners.certificate = () => ({ ...certificate, fingerprint: 'AB:CD' })
  return kit
}

test('an invitation gives the keys once, and the log has both', async () => {
  await using kit = await openKit()
  const op = kit.operator()
  const { secret, url, fingerprint } = await kit.app.inviteNode(op, {})
  expect({ url, fingerprint }).toEqual({ url: 'https://one.example:7800', fingerprint: 'AB:CD' })
  expect(await kit.app.admitNode(op, { secret })).toMatchObject({ vault_key: 'the key\n' })
  await expect(kit.app.admitNode(op, { secret })).rejects.toMatchObject({
    type: 'NodeInviteInvalid',
  })
  const { entries } = await kit.app.queryAudit(op, { limit: 20, offset: 0 })
  const acts = entries.map(({ capability }) => capability)
  expect(acts.filter((act) => act.startsWith('node.'))).toEqual(['node.admitted', 'node.invited'])
  expect(JSON.stringify(entries)).not.toContain(secret)
})

test('an invitation ends after ten minutes, with the next one, and with a wrong secret nothing ends', async () => {
  await using kit = await openKit()
  const op = kit.operator()
  const refused = { type: 'NodeInviteInvalid' }
  const first = await kit.app.inviteNode(op, {})
  const second = await kit.app.inviteNode(op, { url: 'https://10.0.0.1:7800' })
  expect(second.url).toBe('https://10.0.0.1:7800')
  await expect(kit.app.admitNode(op, { secret: first.secret })).rejects.toMatchObject(refused)
  kit.clock.move(600_000)
  await expect(kit.app.admitNode(op, { secret: second.secret })).rejects.toMatchObject(refused)
  const third = await kit.app.inviteNode(op, {})
  kit.clock.move(599_999)
  expect(await kit.app.admitNode(op, { secret: third.secret })).toMatchObject({ authority: null })
})

test('a store that has one node invites no other', async () => {
  await using kit = await createKit()
  await expect(kit.app.inviteNode(kit.operator(), {})).rejects.toMatchObject({ type: 'Conflict' })
})
