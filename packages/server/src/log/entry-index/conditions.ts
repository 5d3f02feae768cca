import type { AuditFilter } from '@gatehouse/contract'
import { storedTimestamp } from './timestamp.ts'

type Names =
  | { readonly kind: 'exact'; readonly name: string }
  | { readonly kind: 'prefix'; readonly prefix: string }

/** Conditions on entries; null where anything will do. */
export type Conditions = {
  readonly agent: string | null
  readonly capability: Names | null
  /** Milliseconds; inclusive. */
  readonly since: number
  /** Milliseconds; exclusive. */
  readonly until: number
  readonly kind: string | null
  readonly result: string | null
  readonly decision: string | null
  readonly session: string | null
  /** Leaves out intents of calls that policy allowed: their outcome comes as an entry of its own. */
  readonly events: boolean
  /** The first number of each chain that is too new; null where none is. A chain that is not named is too new. */
  readonly ends: ReadonlyMap<string, number> | null
}

export const everything: Conditions = {
  agent: null,
  capability: null,
  since: Number.NEGATIVE_INFINITY,
  until: Number.POSITIVE_INFINITY,
  kind: null,
  result: null,
  decision: null,
  session: null,
  events: false,
  ends: null,
}

const namesOf = (text: string | undefined): Names | null => {
  if (text === undefined || text === '*') return null
  if (text.endsWith('*')) return { kind: 'prefix', prefix: text.slice(0, -1) }
  return { kind: 'exact', name: text }
}

/** Where chains end, as a text that a later query can name. */
export const writeEnds = (ends: ReadonlyMap<string, number>): string =>
  [...ends].map(([chain, end]) => `${chain}:${end}`).join(',')

const readEnds = (text: string): ReadonlyMap<string, number> =>
  new Map(
    text.split(',').map((part) => {
      const [chain = '', end] = part.split(':')
      return [chain, Number(end)]
    }),
  )

export const toConditions = (filter: Omit<AuditFilter, 'limit' | 'offset'>): Conditions => ({
  ...everything,
  agent: filter.agent ?? null,
  capability: namesOf(filter.capability),
  since: filter.since === undefined ? everything.since : Date.parse(storedTimestamp(filter.since)),
  until: filter.until === undefined ? everything.until : Date.parse(storedTimestamp(filter.until)),
  result: filter.result ?? null,
  decision: filter.policy_decision ?? null,
  session: filter.session ?? null,
  ends: filter.as_of === undefined ? null : readEnds(filter.as_of),
})

export const isNamed = (names: Names | null, capability: string): boolean =>
  names === null ||
  (names.kind === 'exact' ? capability === names.name : capability.startsWith(names.prefix))

/** Fields that entries are counted by. */
export type Counted = {
  readonly agent: string
  readonly capability: string
  readonly kind: string
  readonly result: string
  readonly decision: string
}

/** Whether entries that agree in these fields are asked for, moment and session aside. */
export const isCounted = (on: Conditions, entry: Counted): boolean =>
  (on.agent === null || entry.agent === on.agent) &&
  (on.kind === null || entry.kind === on.kind) &&
  (on.result === null || entry.result === on.result) &&
  (on.decision === null || entry.decision === on.decision) &&
  !(on.events && entry.result === 'pending' && entry.decision === 'autonomous') &&
  isNamed(on.capability, entry.capability)
