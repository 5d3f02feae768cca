import type { StoredGrant } from '@gatehouse/server/ports/grants'
import { describe, expect, test } from 'vitest'
import type { Open } from './opened.ts'
import { awkwardText, largest, newYear } from './samples.ts'

const grantOf = (id: string, over: Partial<StoredGrant> = {}): StoredGrant => ({
  id,
  agent: 'mailbot',
  capability: 'email.send',
  definition_hash: 'sha256:d',
  match: 'same_arguments',
  call_key: 'key',
  arguments_json: '{"to":"a@example.org"}',
  approval_id: 'appr-1',
  created_ms: newYear,
  created_by: 'user:ana',
  expires_ms: newYear + 1_000,
  expires_wall_ms: newYear + 1_000,
  uses_max: null,
  used: 0,
  last_used_ms: null,
  revoked_ms: null,
  revoked_by: null,
  ...over,
})

const call = {
  agent: 'mailbot',
  capability: 'email.send',
  definition_hash: 'sha256:d',
  call_key: 'key',
}
const now = { nowMs: newYear, wallMs: newYear }

export const grantMusts = (open: Open): void => {
  describe('grants', () => {
    test('come back exactly as they were stored, newest first', async () => {
      await using opened = await open()
      const first = grantOf('grant-1', {
        arguments_json: awkwardText,
        created_by: awkwardText,
        uses_max: largest,
        used: 3,
        last_used_ms: newYear,
        revoked_ms: newYear + 1,
        revoked_by: awkwardText,
      })
      const second = grantOf('grant-2', {
        agent: 'other',
        match: 'same_capability',
        call_key: null,
        arguments_json: null,
      })
      for (const grant of [first, second]) await opened.storage.grants.insert(grant)
      const { grants } = await opened.reopen()
      expect(await grants.find('grant-1')).toEqual(first)
      expect(await grants.find('GRANT-1')).toBeNull()
      const page = { limit: 9, offset: 0 }
      expect(await grants.list(page)).toEqual({ grants: [second, first], total: 2 })
      expect(await grants.list({ limit: 1, offset: 1 })).toEqual({ grants: [first], total: 2 })
      expect(await grants.list({ ...page, usable: now })).toEqual({ grants: [second], total: 1 })
      expect(await grants.list({ ...page, agent: 'mailbot' })).toEqual({
        grants: [first],
        total: 1,
      })
      await expect(grants.insert(first)).rejects.toMatchObject({ type: 'Conflict' })
    })

    test('let the call run that they are for, and no other', async () => {
      await using opened = await open()
      const { grants } = opened.storage
      await grants.insert(grantOf('grant-2', { created_ms: newYear + 1 }))
      await grants.insert(grantOf('grant-1', { match: 'same_capability', call_key: null }))
      expect(await grants.listUsable(call, now)).toEqual(['grant-1', 'grant-2'])
      expect(await grants.listUsable({ ...call, call_key: 'other' }, now)).toEqual(['grant-1'])
      for (const other of [
        { agent: 'Mailbot' },
        { capability: 'email.read' },
        { definition_hash: 'sha256:e' },
      ])
        expect(await grants.listUsable({ ...call, ...other }, now)).toEqual([])
    })

    test.each([
      ['expired on the service clock', { expires_ms: newYear }],
      ['expired on the wall clock', { expires_wall_ms: newYear }],
      ['used up', { uses_max: 2, used: 2 }],
      ['revoked', { revoked_ms: 1, revoked_by: 'user:ana' }],
    ] as const)('let nothing run once %s', async (_what, over) => {
      await using opened = await open()
      const { grants } = opened.storage
      await grants.insert(grantOf('grant-1', over))
      expect(await grants.listUsable(call, now)).toEqual([])
      expect(await grants.use('grant-1', now)).toBe(false)
      expect(await grants.find('grant-1')).toEqual(grantOf('grant-1', over))
    })

    test('are used as often as they have uses, however many ask at once', async () => {
      await using opened = await open()
      const { grants } = opened.storage
      await grants.insert(grantOf('grant-1', { uses_max: 5 }))
      const took = await Promise.all(Array.from({ length: 50 }, () => grants.use('grant-1', now)))
      expect(took.filter(Boolean)).toHaveLength(5)
      expect(await grants.find('grant-1')).toEqual(
        grantOf('grant-1', { uses_max: 5, used: 5, last_used_ms: newYear }),
      )
      expect(await grants.use('grant-2', now)).toBe(false)
    })

    test('are revoked once, one by one or all of an agent', async () => {
      await using opened = await open()
      const { grants } = opened.storage
      for (const id of ['grant-3', 'grant-1', 'grant-2']) await grants.insert(grantOf(id))
      await grants.insert(grantOf('grant-4', { agent: 'other' }))
      expect(await grants.revoke('grant-2', newYear + 5, 'user:ben')).toBe(true)
      expect(await grants.revoke('grant-2', newYear + 6, 'user:ana')).toBe(false)
      expect(await grants.revoke('grant-9', newYear, 'user:ana')).toBe(false)
      expect(await grants.find('grant-2')).toMatchObject({
        revoked_ms: newYear + 5,
        revoked_by: 'user:ben',
      })
      const all = await grants.revokeAllOf('mailbot', newYear + 7, 'user:ana')
      expect(all).toEqual(['grant-1', 'grant-3'])
      expect(await grants.find('grant-2')).toMatchObject({ revoked_by: 'user:ben' })
      expect(await grants.listUsable({ ...call, agent: 'other' }, now)).toEqual(['grant-4'])
    })
  })
}
