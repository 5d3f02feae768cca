import { AgentName } from '@gatehouse/contract'
import { type AuditTargetSettings, auditTargetsOf } from './audit-targets.ts'
import type { Field } from './field.ts'
import { refuse as refuseAt } from './refuse.ts'
import { type Target, targetsOf } from './targets.ts'

export type Value =
  | string
  | number
  | boolean
  | readonly string[]
  | Readonly<Record<string, readonly string[]>>
  | readonly Target[]
  | readonly AuditTargetSettings[]
  | null

const unitsMs: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

const refuse = (origin: string, field: Field, detail: string): never =>
  refuseAt(origin, `${field.key} ${detail}`)

const durationOf = (text: string): number | null => {
  const match = /^(\d{1,9})(ms|s|m|h|d)$/.exec(text)
  return match ? Number(match[1]) * (unitsMs[match[2] ?? ''] ?? 0) : null
}

const within = (origin: string, field: Field, value: number): number => {
  const { min = -Infinity, max = Infinity } = field
  return value >= min && value <= max
    ? value
    : refuse(origin, field, `must lie between ${min} and ${max}`)
}

const commandsOf = (raw: unknown): Readonly<Record<string, readonly string[]>> | null => {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) return null
  const found = Object.entries(raw)
  const sound = ([name, argv]: [string, unknown]) =>
    AgentName.safeParse(name).success &&
    Array.isArray(argv) &&
    argv.length > 0 &&
    argv.every((part) => typeof part === 'string' && !part.includes('\0')) &&
    argv[0] !== ''
  return found.every(sound)
    ? (Object.fromEntries(found) as Record<string, readonly string[]>)
    : null
}

const jsonOf = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return null
  }
}

type Read = (field: Field, raw: unknown, origin: string) => Value

const structureOf = (raw: unknown): unknown => (typeof raw === 'string' ? jsonOf(raw) : raw)

const readers: Readonly<Record<Field['type'], Read>> = {
  string: (field, raw, origin) =>
    typeof raw === 'string' && raw !== ''
      ? raw
      : refuse(origin, field, 'must be a text that is not empty'),

  choice: (field, raw, origin) =>
    typeof raw === 'string' && field.choices?.includes(raw)
      ? raw
      : refuse(origin, field, `must be one of ${field.choices?.join(', ')}`),

  integer(field, raw, origin) {
    const value = typeof raw === 'string' && /^-?\d{1,15}$/.test(raw) ? Number(raw) : raw
    return Number.isSafeInteger(value)
      ? within(origin, field, value as number)
      : refuse(origin, field, 'must be a whole number')
  },

  boolean(field, raw, origin) {
    if (raw === true || raw === 'true' || raw === '1') return true
    if (raw === false || raw === 'false' || raw === '0') return false
    return refuse(origin, field, 'must be true or false')
  },

  duration(field, raw, origin) {
    const ms = typeof raw === 'string' ? durationOf(raw) : null
    return ms === null
      ? refuse(origin, field, 'must be a duration such as 30s, 15m, 24h or 7d')
      : within(origin, field, ms)
  },

  commands: (field, raw, origin) =>
    commandsOf(structureOf(raw)) ??
    refuse(
      origin,
      field,
      'must name agents, each with a list of a program and its arguments; in a flag or variable as JSON',
    ),

  targets: (field, raw, origin) =>
    targetsOf(structureOf(raw), (detail) => refuse(origin, field, detail)),

  'audit targets': (field, raw, origin) =>
    auditTargetsOf(structureOf(raw), (detail) => refuse(origin, field, detail)),

  list(field, raw, origin) {
    const items = typeof raw === 'string' ? raw.split(',').map((item) => item.trim()) : raw
    return Array.isArray(items) && items.every((item) => typeof item === 'string' && item !== '')
      ? (items as string[])
      : refuse(origin, field, 'must be a list of texts')
  },
}

/** Reads one value, from text (flag, variable) or from YAML. Durations become milliseconds. */
export const parseValue = (field: Field, raw: unknown, origin: string): Value =>
  readers[field.type](field, raw, origin)
