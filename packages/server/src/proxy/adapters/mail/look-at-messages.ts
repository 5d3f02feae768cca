import type { ImapFlow } from 'imapflow'
import { fingerprintOf, headerBytesMax } from './message-place.ts'
import { formatUids } from './uid-set.ts'

/** A message as it stands at the server now. */
export type Looked = {
  readonly uid: number
  readonly fingerprint: string
  /** Sorted, without `\Recent`, which is no one's to keep. */
  readonly flags: readonly string[]
  readonly modseq: bigint | null
}

const look = async (client: ImapFlow, range: string): Promise<Looked[]> => {
  const found = await client.fetchAll(
    range,
    {
      uid: true,
      flags: true,
      size: true,
      bodyParts: [{ key: 'HEADER', start: 0, maxLength: headerBytesMax }],
    },
    { uid: true },
  )
  return found.map((message) => ({
    uid: message.uid,
    fingerprint: fingerprintOf(
      message.headers ?? message.bodyParts?.get('header') ?? Buffer.alloc(0),
      message.size ?? 0,
    ),
    flags: [...(message.flags ?? [])].filter((flag) => flag !== '\\Recent').toSorted(),
    modseq: message.modseq ?? null,
  }))
}

/** Messages of these UIDs that are in the open folder. */
export const lookAtMessages = async (
  client: ImapFlow,
  uids: readonly number[],
): Promise<Looked[]> => (uids.length === 0 ? [] : look(client, formatUids(uids)))

/** Messages that came into the open folder since its next UID was this one. */
export const lookAtArrivals = async (client: ImapFlow, sinceUid: number): Promise<Looked[]> =>
  // A range to `*` always holds the last message, however old.
  (await look(client, `${sinceUid}:*`)).filter(({ uid }) => uid >= sinceUid)

/** Gives each wanted fingerprint a message of its own, in the order wanted: copies may be alike. */
export const matchByFingerprint = (
  wanted: readonly string[],
  found: readonly Looked[],
): (Looked | null)[] => {
  const left = new Map<string, Looked[]>()
  for (const one of found) left.set(one.fingerprint, [...(left.get(one.fingerprint) ?? []), one])
  return wanted.map((fingerprint) => left.get(fingerprint)?.shift() ?? null)
}

export const sameFlags = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.toSorted().join(' ') === b.toSorted().join(' ')

/** UIDs of the open folder whose Message-ID is this one. */
export const findByMessageId = async (client: ImapFlow, messageId: string): Promise<number[]> => {
  const found = await client.search({ header: { 'message-id': messageId } }, { uid: true })
  if (!Array.isArray(found)) throw new Error('the server does not search')
  return found
}
