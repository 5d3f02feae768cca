import { describe, expect, test } from 'vitest'
import type { Open } from './opened.ts'
import { awkwardText, largest, newYear, tokenOf } from './samples.ts'

export const peopleMusts = (open: Open): void => {
  describe('user tokens', () => {
    test('come back exactly as they were stored, by id and by hash, revoked ones too', async () => {
      await using opened = await open()
      const token = tokenOf('ut-1', {
        label: awkwardText,
        created_ms: largest,
        revoked_ms: largest,
      })
      await opened.storage.userTokens.insert(token)
      const { userTokens } = await opened.reopen()
      expect(await userTokens.find('ut-1')).toEqual(token)
      expect(await userTokens.findByHash('hash of ut-1')).toEqual(token)
      expect(await userTokens.findByHash('HASH of ut-1')).toBeNull()
      expect(await userTokens.find('ut-2')).toBeNull()
    })

    test('have ids and hashes of their own', async () => {
      await using opened = await open()
      const { userTokens } = opened.storage
      await userTokens.insert(tokenOf('ut-1'))
      for (const twin of [
        tokenOf('ut-1', { token_hash: 'x' }),
        tokenOf('ut-2', { token_hash: 'hash of ut-1' }),
      ])
        await expect(userTokens.insert(twin)).rejects.toMatchObject({ type: 'Conflict' })
    })

    test('are listed newest first', async () => {
      await using opened = await open()
      const { userTokens } = opened.storage
      for (const n of [2, 3, 1]) await userTokens.insert(tokenOf(`ut-${n}`, { created_ms: n }))
      expect((await userTokens.list()).map(({ id }) => id)).toEqual(['ut-3', 'ut-2', 'ut-1'])
    })

    test('are revoked once, and remember when they were used', async () => {
      await using opened = await open()
      const { userTokens } = opened.storage
      await userTokens.insert(tokenOf('ut-1'))
      await userTokens.used('ut-1', newYear + 5)
      const revoked = await Promise.all(
        [1, 2, 3].map((n) => userTokens.revoke('ut-1', newYear + n)),
      )
      expect(revoked.filter(Boolean)).toHaveLength(1)
      expect(await userTokens.revoke('unknown', 1)).toBe(false)
      expect(await userTokens.find('ut-1')).toMatchObject({
        last_used_ms: newYear + 5,
        revoked_ms: newYear + 1 + revoked.indexOf(true),
      })
    })
  })

  describe('meta', () => {
    test('keeps the last value of a key, byte for byte', async () => {
      await using opened = await open()
      const { meta } = opened.storage
      expect(await meta.get('key')).toBeNull()
      await meta.set('key', 'first')
      await meta.set('key', awkwardText)
      await meta.set('KEY', '')
      await meta.set(awkwardText, 'x')
      const again = (await opened.reopen()).meta
      expect(await again.get('key')).toBe(awkwardText)
      expect(await again.get('KEY')).toBe('')
      expect(await again.get(awkwardText)).toBe('x')
    })

    test('gives a lease to one owner at a time, until it ends or is released', async () => {
      await using opened = await open()
      const { meta } = opened.storage
      const owners = ['one', 'two', 'three']
      const got = await Promise.all(owners.map((owner) => meta.lease('work', owner, 10, 20)))
      expect(got.filter(Boolean)).toHaveLength(1)
      const [holder, other] = [owners[got.indexOf(true)] ?? '', owners[got.indexOf(false)] ?? '']
      expect(await meta.lease('work', other, 19, 29)).toBe(false)
      expect(await meta.lease('work', holder, 19, 30)).toBe(true)
      expect(await meta.lease('other work', other, 19, 30)).toBe(true)
      expect(await meta.lease('work', other, 29, 40)).toBe(false)
      expect(await meta.lease('work', other, 30, 40)).toBe(true)
      await meta.release('work', holder)
      expect(await meta.lease('work', holder, 31, 41)).toBe(false)
      await meta.release('work', other)
      expect(await meta.lease('work', holder, 31, 41)).toBe(true)
    })
  })
}
