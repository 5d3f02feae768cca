import type { StoredSecret } from '@gatehouse/server/ports/secret-store'
import { describe, expect, test } from 'vitest'
import type { Open } from './opened.ts'
import { awkwardText, largest, newYear } from './samples.ts'

const secretOf = (name: string, over: Partial<StoredSecret> = {}): StoredSecret => ({
  id: `sec-${name}`,
  name,
  description: '',
  capabilities: ['git.*'],
  hosts: ['git.example.org'],
  agents: ['coder'],
  version: 1,
  root_id: 'root-1',
  wrapped_key: 'a2V5',
  sealed_value: 'dmFsdWU=',
  created_ms: newYear,
  rotated_ms: newYear,
  scoped_ms: newYear,
  uses: 0,
  last_use: null,
  rotation_request: null,
  ...over,
})

const use = { ms: newYear + 5, agent: 'coder', capability: 'git.push', host: 'git.example.org' }

export const secretMusts = (open: Open): void => {
  describe('secrets', () => {
    test('come back exactly as they were stored, by name', async () => {
      await using opened = await open()
      const secret = secretOf(awkwardText, {
        id: 'sec-1',
        description: awkwardText,
        capabilities: [awkwardText, 'git.*'],
        hosts: [],
        version: largest,
        created_ms: largest,
        last_use: { ...use, agent: null, capability: awkwardText, host: null },
        rotation_request: { ms: largest, agent: 'coder', reason: awkwardText },
      })
      await opened.storage.secrets.insert(secret)
      const { secrets } = await opened.reopen()
      expect(await secrets.find(awkwardText)).toEqual(secret)
      expect(await secrets.find('unknown')).toBeNull()
    })

    test('are told apart by case, and listed by name', async () => {
      await using opened = await open()
      const { secrets } = opened.storage
      for (const name of ['b', 'B', 'a']) await secrets.insert(secretOf(name))
      expect((await secrets.list()).map(({ name }) => name)).toEqual(['B', 'a', 'b'])
    })

    test('have names and ids of their own', async () => {
      await using opened = await open()
      const { secrets } = opened.storage
      await secrets.insert(secretOf('a'))
      for (const twin of [secretOf('a', { id: 'sec-x' }), secretOf('b', { id: 'sec-a' })])
        await expect(secrets.insert(twin)).rejects.toMatchObject({ type: 'Conflict' })
    })

    test('are replaced only as they were read, and never forget a use by that', async () => {
      await using opened = await open()
      const { secrets } = opened.storage
      const first = secretOf('a')
      await secrets.insert(first)
      expect(await secrets.used(first, use)).toBe(true)
      const next = { ...first, version: 2, sealed_value: 'bmV4dA==', agents: [] }
      const done = await Promise.all([secrets.replace(first, next), secrets.replace(first, next)])
      expect(done.filter(Boolean)).toHaveLength(1)
      expect(await secrets.find('a')).toEqual({ ...next, uses: 1, last_use: use })
      expect(await secrets.used(first, use)).toBe(false)
      const rewrapped = { ...next, root_id: 'root-2' }
      expect(await secrets.replace(next, rewrapped)).toBe(true)
      expect(await secrets.replace(next, rewrapped)).toBe(false)
    })

    test('count every use, also at once', async () => {
      await using opened = await open()
      const { secrets } = opened.storage
      const secret = secretOf('a')
      await secrets.insert(secret)
      await Promise.all(Array.from({ length: 10 }, () => secrets.used(secret, use)))
      expect((await secrets.find('a'))?.uses).toBe(10)
    })

    test('are gone once they are deleted', async () => {
      await using opened = await open()
      const { secrets } = opened.storage
      await secrets.insert(secretOf('a'))
      expect([await secrets.delete('a'), await secrets.delete('a')]).toEqual([true, false])
      expect(await (await opened.reopen()).secrets.list()).toEqual([])
    })

    test('belong to the transaction that changes them', async () => {
      await using opened = await open()
      const { storage } = opened
      await expect(
        storage.transaction(async (tx) => {
          await tx.secrets.insert(secretOf('a'))
          throw new Error('no')
        }),
      ).rejects.toThrow('no')
      expect(await storage.secrets.list()).toEqual([])
    })
  })
}
