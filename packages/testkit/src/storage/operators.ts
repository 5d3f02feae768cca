import type { StoredOperator, StoredWebSession } from '@gatehouse/server/ports/people'
import { describe, expect, test } from 'vitest'
import type { Open } from './opened.ts'
import { largest, newYear } from './samples.ts'

const operatorOf = (name: string, change: Partial<StoredOperator> = {}): StoredOperator => ({
  name,
  role: 'operator',
  password_hash: `hash of ${name}`,
  created_ms: newYear,
  password_changed_ms: newYear,
  slot: null,
  ...change,
})

const loginOf = (id_hash: string, change: Partial<StoredWebSession> = {}): StoredWebSession => ({
  id_hash,
  operator: 'ana',
  created_ms: newYear,
  expires_ms: newYear + 10,
  ...change,
})

export const operatorMusts = (open: Open): void => {
  describe('operators', () => {
    test('come back exactly as they were stored, oldest first', async () => {
      await using opened = await open()
      const ana = operatorOf('ana', { created_ms: largest, password_changed_ms: 0, slot: 'first' })
      const ben = operatorOf('ben')
      for (const operator of [ana, ben]) await opened.storage.operators.insert(operator)
      const { operators } = await opened.reopen()
      expect(await operators.find('ana')).toEqual(ana)
      expect(await operators.find('Ana')).toBeNull()
      expect(await operators.list()).toEqual([ben, ana])
    })

    test('have names of their own, and one of them at most the first place', async () => {
      await using opened = await open()
      const { operators } = opened.storage
      await operators.insert(operatorOf('ana', { slot: 'first' }))
      for (const twin of [operatorOf('ana'), operatorOf('ben', { slot: 'first' })])
        await expect(operators.insert(twin)).rejects.toMatchObject({ type: 'Conflict' })
      await operators.insert(operatorOf('ben'))
      await operators.insert(operatorOf('eva'))
      expect(await operators.list()).toHaveLength(3)
    })

    test('get another password, and go', async () => {
      await using opened = await open()
      const { operators } = opened.storage
      await operators.insert(operatorOf('ana'))
      const next = {
        password_hash: 'other',
        role: 'viewer',
        password_changed_ms: newYear + 1,
      } as const
      expect(await operators.setPassword('ana', next)).toBe(true)
      expect(await operators.setPassword('ben', next)).toBe(false)
      expect(await operators.find('ana')).toMatchObject({
        password_hash: 'other',
        password_changed_ms: newYear + 1,
      })
      expect([await operators.remove('ana'), await operators.remove('ana')]).toEqual([true, false])
      expect(await operators.list()).toEqual([])
    })
  })

  describe('logins', () => {
    test('come back as they were stored, expired ones too, until they end', async () => {
      await using opened = await open()
      await opened.storage.webSessions.insert(loginOf('one', { expires_ms: 0 }))
      const { webSessions } = await opened.reopen()
      expect(await webSessions.findByHash('one')).toEqual(loginOf('one', { expires_ms: 0 }))
      expect(await webSessions.findByHash('ONE')).toBeNull()
      await expect(webSessions.insert(loginOf('one'))).rejects.toMatchObject({ type: 'Conflict' })
      expect([await webSessions.end('one'), await webSessions.end('one')]).toEqual([true, false])
      expect(await webSessions.findByHash('one')).toBeNull()
    })

    test('are listed, expired ones too, the newest first', async () => {
      await using opened = await open()
      const { webSessions } = opened.storage
      const older = loginOf('older', { expires_ms: 0 })
      const newer = loginOf('newer', { created_ms: newYear + 1, operator: 'ben' })
      for (const login of [older, newer]) await webSessions.insert(login)
      expect(await webSessions.list()).toEqual([newer, older])
    })

    test('end together, but for the one that is to stay and those of others', async () => {
      await using opened = await open()
      const { webSessions } = opened.storage
      for (const id of ['one', 'two', 'three']) await webSessions.insert(loginOf(id))
      await webSessions.insert(loginOf('of ben', { operator: 'ben' }))
      expect(await webSessions.endAllOf('ana', 'two')).toBe(2)
      expect(await webSessions.findByHash('two')).not.toBeNull()
      expect(await webSessions.endAllOf('ana', null)).toBe(1)
      expect(await webSessions.findByHash('of ben')).not.toBeNull()
    })

    test('end with their time', async () => {
      await using opened = await open()
      const { webSessions } = opened.storage
      await webSessions.insert(loginOf('now'))
      await webSessions.insert(loginOf('later', { expires_ms: newYear + 11 }))
      await webSessions.endExpired(newYear + 10)
      expect(await webSessions.findByHash('now')).toBeNull()
      expect(await webSessions.findByHash('later')).not.toBeNull()
    })
  })
}
