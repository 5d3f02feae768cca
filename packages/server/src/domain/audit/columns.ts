import { copiedFields, type LogRow } from './row.ts'

/**
 * Names the first column that says something else than the body, or null. A walk over the canonical text
 * finds agreement without parsing; whatever it is not sure of is parsed.
 */
export const columnFault = (row: LogRow): string | null => (walks(row) ? null : compare(row))

const compare = (row: LogRow): string | null => {
  try {
    const body = JSON.parse(row.body) as Partial<Record<keyof LogRow, unknown>>
    return copiedFields.find((name) => body[name] !== row[name]) ?? null
  } catch {
    return 'body'
  }
}

const quote = 34
const backslash = 92

/** The position after a string that starts at `at`, or -1. */
const afterString = (text: string, at: number): number => {
  for (let end = text.indexOf('"', at + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let slashes = 0
    while (text.charCodeAt(end - 1 - slashes) === backslash) slashes += 1
    if (slashes % 2 === 0) return end + 1
  }
  return -1
}

/** The position after any value that starts at `at`, or -1. */
const afterValue = (text: string, at: number): number => {
  const first = text.charCodeAt(at)
  if (first === quote) return afterString(text, at)
  if (first !== 123 && first !== 91) return text.startsWith('null', at) ? at + 4 : -1
  let depth = 0
  for (let i = at; i < text.length && i >= 0; i++) {
    const code = text.charCodeAt(i)
    if (code === quote) i = afterString(text, i) - 1
    else if (code === 123 || code === 91) depth += 1
    else if ((code === 125 || code === 93) && --depth === 0) return i + 1
    if (i < 0) return -1
  }
  return -1
}

/**
 * Goes through the body piece by piece: known keys, known values, and over whatever has no column. The
 * order is that of `sealEntry`. Never true for a body that differs; false proves nothing.
 */
const walks = (row: LogRow): boolean => {
  const text = row.body
  let at = 0
  const literal = (piece: string): boolean => {
    if (at < 0 || !text.startsWith(piece, at)) return false
    at += piece.length
    return true
  }
  const word = (key: string, value: string | null): boolean => {
    if (!literal(key)) return false
    if (value === null) return literal('null')
    if (text.charCodeAt(at) !== quote || !text.startsWith(value, at + 1)) return false
    const end = at + 1 + value.length
    // No quote and no backslash inside: then the raw text is the value.
    if (text.indexOf('"', at + 1) !== end || value.includes('\\')) return false
    at = end + 1
    return true
  }
  const skip = (key: string): boolean => {
    if (!literal(key)) return false
    at = afterValue(text, at)
    return at > 0
  }
  const number = (key: string, value: number | null): boolean => literal(key + String(value))
  return (
    skip('{"actor":') &&
    word(',"agent":', row.agent) &&
    word(',"approval_id":', row.approval_id) &&
    skip(',"arguments":') &&
    word(',"capability":', row.capability) &&
    word(',"chain":', row.chain) &&
    skip(',"detail":') &&
    number(',"duration_ms":', row.duration_ms) &&
    skip(',"error":') &&
    word(',"id":', row.id) &&
    word(',"intent_id":', row.intent_id) &&
    word(',"kind":', row.kind) &&
    word(',"policy_decision":', row.policy_decision) &&
    skip(',"request_id":') &&
    word(',"result":', row.result) &&
    skip(',"rule":') &&
    number(',"seq":', row.seq) &&
    word(',"session_id":', row.session_id) &&
    word(',"timestamp":', row.timestamp) &&
    literal('}') &&
    at === text.length
  )
}
