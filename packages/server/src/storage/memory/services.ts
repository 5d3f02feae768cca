import type { ServiceStore, StoredService } from '../../ports/services.ts'
import { type Access, compareText, type LeasedService } from './state.ts'

const bare = ({ lease_owner, lease_ms, ...service }: LeasedService): StoredService => service

export const memoryServices = ({ state, write }: Access): ServiceStore => ({
  put: (service) =>
    write(({ services }) => {
      services.set(service.name, { ...service, lease_owner: null, lease_ms: null })
    }),

  find: async (name) => {
    const found = state().services.get(name)
    return found ? bare(found) : null
  },

  list: async () =>
    [...state().services.values()].toSorted((a, b) => compareText(a.name, b.name)).map(bare),

  remove: (name) => write(({ services }) => void services.delete(name)),

  lease: (name, owner, { nowMs, untilMs }) =>
    write(({ services }) => {
      const service = services.get(name)
      if (!service) return false
      const { lease_owner, lease_ms } = service
      if (lease_owner !== null && lease_owner !== owner && (lease_ms ?? 0) > nowMs) return false
      services.set(name, { ...service, lease_owner: owner, lease_ms: untilMs })
      return true
    }),

  release: (name, owner) =>
    write(({ services }) => {
      const service = services.get(name)
      if (service?.lease_owner === owner)
        services.set(name, { ...service, lease_owner: null, lease_ms: null })
    }),

  progress: ({ name, generation }, change, owner) =>
    write(({ services }) => {
      const service = services.get(name)
      if (service?.generation !== generation) return false
      if (owner !== undefined && service.lease_owner !== owner) return false
      services.set(name, { ...service, ...change })
      return true
    }),
})
