import { GatehouseError } from '@gatehouse/contract'
import type { GrantMoment, GrantStore, StoredGrant } from '../../ports/grants.ts'
import { type Access, compareText } from './state.ts'

const oldestFirst = (a: StoredGrant, b: StoredGrant): number =>
  a.created_ms - b.created_ms || compareText(a.id, b.id)

const isUsable = (grant: StoredGrant, { nowMs, wallMs }: GrantMoment): boolean =>
  grant.revoked_ms === null &&
  grant.expires_ms > nowMs &&
  grant.expires_wall_ms > wallMs &&
  (grant.uses_max === null || grant.used < grant.uses_max)

export const memoryGrants = ({ state, write }: Access): GrantStore => {
  const all = () => [...state().grants.values()].toSorted(oldestFirst)
  return {
    insert: (grant) =>
      write(({ grants }) => {
        if (grants.has(grant.id))
          throw new GatehouseError('Conflict', { detail: `grant ${grant.id} is there` })
        grants.set(grant.id, { ...grant })
      }),

    find: async (id) => state().grants.get(id) ?? null,

    listUsable: async ({ agent, capability, definition_hash, call_key }, moment) =>
      all()
        .filter(
          (grant) =>
            grant.agent === agent &&
            grant.capability === capability &&
            grant.definition_hash === definition_hash &&
            (grant.call_key === null || grant.call_key === call_key) &&
            isUsable(grant, moment),
        )
        .map(({ id }) => id),

    use: (id, moment) =>
      write(({ grants }) => {
        const stored = grants.get(id)
        if (!stored || !isUsable(stored, moment)) return false
        grants.set(id, { ...stored, used: stored.used + 1, last_used_ms: moment.wallMs })
        return true
      }),

    revoke: (id, ms, by) =>
      write(({ grants }) => {
        const stored = grants.get(id)
        if (stored?.revoked_ms !== null) return false
        grants.set(id, { ...stored, revoked_ms: ms, revoked_by: by })
        return true
      }),

    revokeAllOf: (agent, ms, by) =>
      write(({ grants }) => {
        const own = [...grants.values()].filter(
          (grant) => grant.agent === agent && grant.revoked_ms === null,
        )
        for (const grant of own) grants.set(grant.id, { ...grant, revoked_ms: ms, revoked_by: by })
        return own.map(({ id }) => id).toSorted(compareText)
      }),

    async list({ agent, usable, limit, offset }) {
      const found = all()
        .filter((grant) => agent === undefined || grant.agent === agent)
        .filter((grant) => usable === undefined || isUsable(grant, usable))
        .toReversed()
      return { grants: found.slice(offset, offset + limit), total: found.length }
    },
  }
}
