import { isSecretName } from './question-form.ts'

type Members = Readonly<Record<string, unknown>>

const isMembers = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Members of `_meta` that mean something to the protocol, or to traces, without a prefix. */
const reservedNames: ReadonlySet<string> = new Set([
  'progresstoken',
  'traceparent',
  'tracestate',
  'baggage',
])

/** Owners of names: the protocol has every prefix with one of the first two labels, Gatehouse has its own. */
const protocolLabels: ReadonlySet<string> = new Set(['modelcontextprotocol', 'mcp'])

const printable = /^[\x21-\x7e]{1,256}$/

/** Whether a member of `_meta` speaks in the name of the protocol or of Gatehouse, or only looks as if. */
const isReserved = (key: string): boolean => {
  if (!printable.test(key)) return true
  const lower = key.toLowerCase()
  const labels = lower.split(/[./]/)
  const prefix = lower.slice(0, Math.max(0, lower.lastIndexOf('/'))).split(/[./]/)
  return (
    reservedNames.has(lower) ||
    labels.includes('gatehouse') ||
    prefix.some((label) => protocolLabels.has(label))
  )
}

const depthMax = 64

/** Undefined where nothing is left of it. */
const keptMeta = (meta: unknown): Members | undefined => {
  const kept = isMembers(meta) ? Object.entries(meta).filter(([key]) => !isReserved(key)) : []
  return kept.length === 0 ? undefined : Object.fromEntries(kept)
}

/**
 * Answer of a server, where no `_meta` in it says anything in the name of Gatehouse or of the protocol.
 * `structuredContent` is data and stays as it is. Null for an answer that is nested too deeply.
 * @SECURITY Whoever reads a result believes what it says under these names; upstream/meta.test.ts.
 */
export const withoutReservedMeta = <T>(answer: T): T | null => {
  let tooDeep = false
  // A value that holds nothing of the kind is returned as it is: most answers do.
  const clean = (value: unknown, depth: number): unknown => {
    if (typeof value !== 'object' || value === null) return value
    if (depth > depthMax) {
      tooDeep = true
      return null
    }
    if (Array.isArray(value)) {
      const items = value.map((item) => clean(item, depth + 1))
      return items.every((item, i) => item === value[i]) ? value : items
    }
    let isSame = true
    const members: [string, unknown][] = []
    for (const [key, inner] of Object.entries(value)) {
      const kept =
        key === '_meta'
          ? keptMeta(inner)
          : key === 'structuredContent'
            ? inner
            : clean(inner, depth + 1)
      if (kept !== inner) isSame = false
      if (kept !== undefined) members.push([key, kept])
    }
    return isSame ? value : Object.fromEntries(members)
  }
  const cleaned = clean(answer, 0) as T
  return tooDeep ? null : cleaned
}

const traceparent = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/

const sendable = (key: string, value: unknown): boolean =>
  key === 'traceparent'
    ? typeof value === 'string' && traceparent.test(value)
    : !isReserved(key) && !isSecretName(key)

const withoutSecrets = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withoutSecrets)
  if (!isMembers(value)) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => !isSecretName(key))
      .map(([key, inner]) => [key, withoutSecrets(inner)]),
  )
}

/** Part of an agent's own `_meta` that a server may be sent: nothing reserved and nothing that is named like a secret. */
export const sendableMeta = (meta: Members): Members =>
  Object.fromEntries(
    Object.entries(meta)
      .filter(([key, value]) => sendable(key, value))
      .map(([key, value]) => [key, withoutSecrets(value)]),
  )
