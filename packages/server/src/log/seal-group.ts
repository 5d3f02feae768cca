import { timingSafeEqual } from 'node:crypto'
import type { Frame } from './frame.ts'
import { noteText } from './frame.ts'
import type { Sealer } from './keys.ts'

const tag = 'gatehouse-group-v1\n'

/**
 * MAC over a group: it came from this service, after everything that its head stands for. The head is the
 * hash of its last entry, into which all entries before went.
 */
export const groupMac = (
  sealer: Sealer,
  group: {
    readonly chain: string
    readonly size: number
    readonly head: string
    readonly note: string
  },
): Buffer => sealer.mac(`${tag}${group.chain}\n${group.size}\n${group.head}\n${group.note}`)

/** Whether this service wrote the frame. */
export const isGenuine = (sealer: Sealer, chain: string, frame: Frame): boolean => {
  const last = frame.entries.at(-1)
  if (!last) return false
  const { note, mac } = frame
  const expected = groupMac(sealer, {
    chain,
    size: last.seq + 1,
    head: last.hash,
    note: noteText(note),
  })
  return mac.length === expected.length && timingSafeEqual(mac, expected)
}
