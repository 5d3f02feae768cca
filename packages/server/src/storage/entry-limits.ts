import { GatehouseError } from '@gatehouse/contract'
import type { ReplicaEntry } from '../ports/replica.ts'

const titleCharsMax = 1_000
const textCharsMax = 256 * 1024
const flagCharsMax = 64
const flagsMax = 64
const keyCharsMax = 998
const keysMax = 16
const bodyCharsMax = 2 * 1024 * 1024
const idCharsMax = 2_048

/** Never half of a pair: what is cut must still be text. */
const cut = (text: string, charsMax: number): string =>
  text.length <= charsMax ? text : text.slice(0, charsMax).replace(/[\uD800-\uDBFF]$/, '')

/**
 * An entry as the replica takes it, whatever a service sent. Texts are cut; what would not fit at all is
 * an adapter's mistake.
 */
export const entryLimits = (entry: ReplicaEntry): ReplicaEntry => {
  if (entry.id.length > idCharsMax || entry.collection.length > idCharsMax)
    throw new GatehouseError('ValueTooLarge', {
      size_bytes: entry.id.length,
      limit_bytes: idCharsMax,
    })
  const size_bytes = JSON.stringify(entry.body).length
  if (size_bytes > bodyCharsMax)
    throw new GatehouseError('ValueTooLarge', { size_bytes, limit_bytes: bodyCharsMax })
  return {
    ...entry,
    title: cut(entry.title, titleCharsMax),
    from: cut(entry.from, titleCharsMax),
    text: cut(entry.text, textCharsMax),
    // Flags are stored a line each.
    flags: [...new Set(entry.flags.map((flag) => cut(flag.replaceAll('\n', ' '), flagCharsMax)))]
      .filter((flag) => flag !== '')
      .slice(0, flagsMax),
    keys: [...new Set(entry.keys.map((key) => cut(key, keyCharsMax)))].slice(0, keysMax),
  }
}
