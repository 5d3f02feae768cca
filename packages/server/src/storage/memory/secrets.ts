import { GatehouseError } from '@gatehouse/contract'
import type { SecretStore, StoredSecret } from '../../ports/secret-store.ts'
import { type Access, compareText } from './state.ts'

export const memorySecrets = ({ state, write }: Access): SecretStore => {
  const all = () => [...state().secrets.values()]
  return {
    insert: (secret) =>
      write(({ secrets }) => {
        const taken = (stored: StoredSecret) => stored.name === secret.name
        if (secrets.has(secret.id) || [...secrets.values()].some(taken))
          throw new GatehouseError('Conflict', { detail: `secret ${secret.name} is there` })
        secrets.set(secret.id, { ...secret })
      }),

    find: async (name) => all().find((secret) => secret.name === name) ?? null,

    list: async () => all().toSorted((a, b) => compareText(a.name, b.name)),

    replace: (current, next) =>
      write(({ secrets }) => {
        const stored = secrets.get(current.id)
        if (stored?.version !== current.version || stored.root_id !== current.root_id) return false
        const { uses, last_use } = stored
        secrets.set(current.id, { ...next, id: current.id, uses, last_use })
        return true
      }),

    used: ({ id, version }, use) =>
      write(({ secrets }) => {
        const stored = secrets.get(id)
        if (stored?.version !== version) return false
        secrets.set(id, { ...stored, uses: stored.uses + 1, last_use: { ...use } })
        return true
      }),

    delete: (name) =>
      write(({ secrets }) => {
        const stored = [...secrets.values()].find((secret) => secret.name === name)
        return stored !== undefined && secrets.delete(stored.id)
      }),
  }
}
