import { GatehouseError } from '@gatehouse/contract'
import type { UserTokenStore } from '../../ports/people.ts'
import type { ClockStore, MetaStore } from '../../ports/storage.ts'
import { type Access, compareText } from './state.ts'

export const memoryUserTokens = ({ state, write }: Access): UserTokenStore => {
  const all = () => [...state().userTokens.values()]
  return {
    insert: (token) =>
      write(({ userTokens }) => {
        const taken = (stored: typeof token) =>
          stored.id === token.id || stored.token_hash === token.token_hash
        if ([...userTokens.values()].some(taken))
          throw new GatehouseError('Conflict', { detail: `user token ${token.id} is there` })
        userTokens.set(token.id, { ...token })
      }),

    findByHash: async (hash) => all().find((token) => token.token_hash === hash) ?? null,
    find: async (id) => state().userTokens.get(id) ?? null,

    list: async () =>
      all().toSorted((a, b) => b.created_ms - a.created_ms || compareText(b.id, a.id)),

    revoke: (id, ms) =>
      write(({ userTokens }) => {
        const stored = userTokens.get(id)
        if (stored?.revoked_ms !== null) return false
        userTokens.set(id, { ...stored, revoked_ms: ms })
        return true
      }),

    used: (id, ms) =>
      write(({ userTokens }) => {
        const stored = userTokens.get(id)
        if (stored) userTokens.set(id, { ...stored, last_used_ms: ms })
      }),
  }
}

export const memoryMeta = ({ state, write }: Access): MetaStore => ({
  get: async (key) => state().meta.get(key) ?? null,
  set: (key, value) =>
    write(({ meta }) => {
      meta.set(key, value)
    }),
})

export const memoryClock = ({ state }: Access): ClockStore => ({
  read: async () => state().clock.ms,
})
