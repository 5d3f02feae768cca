import { GatehouseError } from '@gatehouse/contract'
import type { ProcessStore } from '../../ports/process-store.ts'
import { type Access, compareText } from './state.ts'

export const memoryProcesses = ({ state, write }: Access): ProcessStore => ({
  insert: (process) =>
    write(({ processes }) => {
      if (processes.has(process.id))
        throw new GatehouseError('Conflict', { detail: `process ${process.id} is there` })
      processes.set(process.id, { ...process })
    }),

  find: async (id) => state().processes.get(id) ?? null,

  update: (process) =>
    write(({ processes }) => {
      const stored = processes.get(process.id)
      if (stored?.state !== 'running') return false
      const { agent, node, command, args_json, network_json, started_ms } = stored
      const kept = { agent, node, command, args_json, network_json, started_ms }
      processes.set(process.id, { ...process, ...kept })
      return true
    }),

  async list({ agent, state: wanted, node, limit, offset }) {
    const found = [...state().processes.values()]
      .filter((one) => (agent ?? one.agent) === one.agent && (wanted ?? one.state) === one.state)
      .filter((one) => (node ?? one.node) === one.node)
      .toSorted((a, b) => b.started_ms - a.started_ms || compareText(b.id, a.id))
    return { processes: found.slice(offset, offset + limit), total: found.length }
  },

  remove: (id) =>
    write(({ processes }) => processes.get(id)?.state !== 'running' && processes.delete(id)),

  listEnded: async (node, beforeMs, limit) =>
    [...state().processes.values()]
      .filter((one) => one.node === node && one.ended_ms !== null && one.ended_ms < beforeMs)
      .toSorted((a, b) => (a.ended_ms ?? 0) - (b.ended_ms ?? 0) || compareText(a.id, b.id))
      .slice(0, limit),
})
