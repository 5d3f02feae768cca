import type { ActivityEvent, AuditEntry } from '@gatehouse/contract'
import { describeEntry } from '@gatehouse/contract/describe-call'
import { entryOf } from './audit/entry.ts'
import type { LogRow } from './audit/row.ts'

const typeOf = ({ kind, capability, result, detail }: AuditEntry): string => {
  if (kind === 'act') return capability.replaceAll('.', '_')
  if (result !== 'pending') return 'capability_invoked'
  // A use of a grant, and a request that a person's change made, ask nobody.
  if (detail?.['grant_id'] !== undefined) return 'grant_used'
  if (detail?.['edited_from'] !== undefined) return 'approval_replaced'
  return detail?.['execution'] === 'running' ? 'approval_running' : 'approval_requested'
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

const textOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null)

const modelKeys = [
  'job_id',
  'percent',
  'downloaded_bytes',
  'size_bytes',
  'bytes_per_second',
] as const

/** Model that an act is about, for those who follow its installation. */
const modelOf = ({
  kind,
  capability,
  arguments: facts,
}: AuditEntry): Pick<ActivityEvent, 'model'> =>
  kind === 'act' && capability.startsWith('model.') && typeof facts['id'] === 'string'
    ? {
        model: {
          id: facts['id'],
          ...Object.fromEntries(
            modelKeys.filter((key) => facts[key] !== undefined).map((key) => [key, facts[key]]),
          ),
        },
      }
    : {}

/** Whether a row is an intent: it is followed by a row of its own that says how the call ended. */
export const isIntent = (row: Pick<LogRow, 'result' | 'policy_decision'>): boolean =>
  row.result === 'pending' && row.policy_decision === 'autonomous'

/** A fact of an act about a call; a changed request has its new arguments in `arguments`. */
const factOf = ({ detail, arguments: facts }: AuditEntry, name: string): string =>
  textOf(detail?.[name]) || textOf(facts[name])

/** A row of the log as people watch it. */
export const activityOf = (row: LogRow): ActivityEvent => {
  const entry = entryOf(row)
  return {
    id: entry.id,
    type: typeOf(entry),
    timestamp: entry.timestamp,
    agent: entry.agent,
    // The act is the type; what it is about, if anything, is among its arguments.
    capability: entry.kind === 'call' ? entry.capability : factOf(entry, 'capability'),
    object: (entry.kind === 'act' && factOf(entry, 'object')) || describeEntry(entry),
    success: entry.result === 'success' || entry.result === 'pending',
    duration_ms: Math.round(entry.duration_ms ?? 0),
    result: entry.result,
    policy_decision: entry.policy_decision,
    actor: entry.actor,
    session_id: entry.session_id,
    approval_id: entry.approval_id,
    error: entry.error?.type ?? textOrNull(entry.arguments['error']),
    ...modelOf(entry),
  }
}

/** How far each chain of the log has been followed: the number of the next row, by chain. */
export type Place = ReadonlyMap<string, number>

const placeForm = /^[A-Za-z0-9._-]{1,64}:\d{1,15}(?:,[A-Za-z0-9._-]{1,64}:\d{1,15}){0,999}$/

/** `chain:seq`, joined by commas: short, and the same wherever it is read. */
export const placeText = (place: Place): string =>
  [...place].map(([chain, next]) => `${chain}:${next}`).join(',')

/** Null for what no stream of this log ever said. `-` stands for a log in which nothing was yet. */
export const parsePlace = (text: string): Place | null => {
  if (text === '-') return new Map()
  if (!placeForm.test(text)) return null
  return new Map(
    text.split(',').map((part): [string, number] => {
      const at = part.lastIndexOf(':')
      return [part.slice(0, at), Number(part.slice(at + 1))]
    }),
  )
}
