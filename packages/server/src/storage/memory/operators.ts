import { GatehouseError } from '@gatehouse/contract'
import type { OperatorStore, StoredOperator, WebSessionStore } from '../../ports/people.ts'
import { type Access, compareText } from './state.ts'

export const memoryOperators = ({ state, write }: Access): OperatorStore => ({
  insert: (operator) =>
    write(({ operators }) => {
      const taken = ({ name, slot }: StoredOperator) =>
        name === operator.name || (slot !== null && slot === operator.slot)
      if ([...operators.values()].some(taken))
        throw new GatehouseError('Conflict', { detail: `operator ${operator.name} is there` })
      operators.set(operator.name, { ...operator })
    }),

  find: async (name) => state().operators.get(name) ?? null,

  list: async () =>
    [...state().operators.values()].toSorted(
      (a, b) => a.created_ms - b.created_ms || compareText(a.name, b.name),
    ),

  setPassword: (name, hash, ms) =>
    write(({ operators }) => {
      const stored = operators.get(name)
      if (!stored) return false
      operators.set(name, { ...stored, password_hash: hash, password_changed_ms: ms })
      return true
    }),

  remove: (name) => write(({ operators }) => operators.delete(name)),
})

export const memoryWebSessions = ({ state, write }: Access): WebSessionStore => ({
  insert: (session) =>
    write(({ webSessions }) => {
      if (webSessions.has(session.id_hash))
        throw new GatehouseError('Conflict', { detail: 'this login is there' })
      webSessions.set(session.id_hash, { ...session })
    }),

  findByHash: async (hash) => state().webSessions.get(hash) ?? null,

  end: (hash) => write(({ webSessions }) => webSessions.delete(hash)),

  endAllOf: (operator, exceptHash) =>
    write(({ webSessions }) => {
      const ended = [...webSessions.values()].filter(
        (session) => session.operator === operator && session.id_hash !== exceptHash,
      )
      for (const { id_hash } of ended) webSessions.delete(id_hash)
      return ended.length
    }),

  endExpired: (ms) =>
    write(({ webSessions }) => {
      for (const { id_hash, expires_ms } of [...webSessions.values()])
        if (expires_ms <= ms) webSessions.delete(id_hash)
    }),
})
