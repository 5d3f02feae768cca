import { canonical, canonicalText, keysInOrder } from './canonical.ts'
import type { Digests } from './hashing.ts'

/** Values and whole argument lists beyond these are stored in part, with a hash of all of it. */
export const valueBytesMax = 4096
export const recordBytesMax = 65_536
const wordLengthMax = 512

type Fields = Readonly<Record<string, unknown>>

/** Stand-in for a value that was too large: its beginning, SHA-256 and length in UTF-8. */
export type Cut = {
  readonly $cut: string
  readonly sha256: string
  readonly size_bytes: number
}

const encoder = new TextEncoder()

const longerThan = (text: string, bytes: number): boolean =>
  text.length > bytes || (text.length * 3 > bytes && encoder.encode(text).length > bytes)

const beginning = (text: string): string =>
  text.slice(0, encoder.encodeInto(text, new Uint8Array(valueBytesMax)).read)

const cut = (text: string, digests: Digests): Cut => ({
  $cut: beginning(text),
  sha256: digests.sha256(text),
  size_bytes: encoder.encode(text).length,
})

/** An honest value that looks like ours is cut too, so that a `$cut` in the log is always the log's. */
const looksCut = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, '$cut')

const own = { enumerable: true, configurable: true, writable: true }

const keep = (value: unknown, digests: Digests): { value: unknown; text: string } => {
  const text = canonical(value)
  const raw = typeof value === 'string' ? value : text
  if (!looksCut(value) && !longerThan(raw, valueBytesMax)) return { value, text }
  const short = cut(raw, digests)
  return { value: short, text: canonical(short) }
}

/**
 * Arguments or details as the log keeps them, with their canonical text. Fields named in `secret` are kept
 * as a keyed hash: equal values stay recognisable, the value does not come back.
 */
export const keepFields = (
  fields: Fields,
  secret: readonly string[],
  digests: Digests,
): { readonly value: Record<string, unknown>; readonly text: string } => {
  const value: Record<string, unknown> = {}
  let text = '{'
  for (const name of keysInOrder(fields)) {
    const kept = secret.includes(name)
      ? keep(`hmac-sha256:${digests.hmac(canonical(fields[name]))}`, digests)
      : keep(fields[name], digests)
    // Assigned, this one name would change the object instead of becoming a field.
    if (name === '__proto__') Object.defineProperty(value, name, { ...own, value: kept.value })
    else value[name] = kept.value
    text += `${text.length > 1 ? ',' : ''}${canonicalText(name)}:${kept.text}`
  }
  text += '}'
  // @SECURITY Cut after the secret fields were hashed: the beginning is kept as it is; entry.test.ts.
  return looksCut(fields) || longerThan(text, recordBytesMax)
    ? cutWhole(text, digests)
    : { value, text }
}

const cutWhole = (text: string, digests: Digests) => {
  const value = cut(text, digests)
  return { value, text: canonical(value) }
}

/** A sentence that has to stay a sentence. */
export const keepSentence = (text: string): string =>
  longerThan(text, valueBytesMax) ? `${beginning(text)}…` : text

/** A name that may come from anyone, as in a call of a capability that there is not. */
export const keepWord = (text: string): string =>
  text.length > wordLengthMax
    ? `${text.slice(0, wordLengthMax).replace(/[\ud800-\udbff]$/, '')}…`
    : text
