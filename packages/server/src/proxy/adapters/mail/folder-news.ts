import type { ImapFlow } from 'imapflow'
import type { FolderState } from './cursor.ts'
import type { MailFolder } from './folders.ts'

/** Messages of a folder that the replica has not. */
export type FolderNews = {
  /** The newest first. */
  readonly fresh: readonly number[]
  /** Known ones whose flags changed. */
  readonly changed: readonly number[]
  readonly gone: readonly number[]
  readonly modseq: string | null
  readonly flags: ReadonlyMap<string, ReadonlySet<number>> | null
}

const descending = (uids: Iterable<number>): number[] => [...uids].toSorted((a, b) => b - a)

const flagsOf = async (client: ImapFlow): Promise<Map<string, Set<number>>> => {
  const flags = new Map<string, Set<number>>()
  for await (const message of client.fetch('1:*', { uid: true, flags: true }, { uid: true }))
    for (const flag of message.flags ?? []) {
      if (flag === '\\Recent') continue
      const uids = flags.get(flag) ?? new Set()
      flags.set(flag, uids.add(message.uid))
    }
  return flags
}

const none: ReadonlySet<number> = new Set()

/** UIDs that are in one of the sets only, for any flag. */
const changedBetween = (
  before: ReadonlyMap<string, ReadonlySet<number>>,
  after: ReadonlyMap<string, ReadonlySet<number>>,
): Set<number> => {
  const changed = new Set<number>()
  for (const flag of new Set([...before.keys(), ...after.keys()])) {
    const [old, now] = [before.get(flag) ?? none, after.get(flag) ?? none]
    for (const uid of old) if (!now.has(uid)) changed.add(uid)
    for (const uid of now) if (!old.has(uid)) changed.add(uid)
  }
  return changed
}

/** UIDs of the messages that changed since the server's count stood so; none without a count. */
const changedSince = async (client: ImapFlow, modseq: string | null): Promise<Set<number>> => {
  const changed = new Set<number>()
  if (modseq === null) return changed
  const options = { uid: true, changedSince: BigInt(modseq) }
  for await (const message of client.fetch('1:*', { uid: true, flags: true }, options))
    changed.add(message.uid)
  return changed
}

/**
 * Compares the open folder with what is known of it. The list of its UIDs shows what came and what went,
 * at every server; changes of flags come from its count of changes (CONDSTORE), or from comparing them all.
 */
export const compareFolder = async (
  client: ImapFlow,
  folder: MailFolder,
  known: FolderState | null,
): Promise<FolderNews> => {
  const counts = folder.modseq !== null && client.enabled.has('CONDSTORE')
  const found = await client.search({ all: true }, { uid: true })
  // False: the server refused, which must never read as an empty folder.
  if (!Array.isArray(found))
    throw new Error(`the server does not list the messages of ${folder.path}`)
  const present = new Set(found)
  const before = known?.uids ?? none
  const fresh = descending(found.filter((uid) => !before.has(uid)))
  const gone = [...before].filter((uid) => !present.has(uid))
  const flags = counts ? null : await flagsOf(client)
  const changed =
    flags && known?.flags
      ? changedBetween(known.flags, flags)
      : await changedSince(client, counts && before.size > 0 ? (known?.modseq ?? null) : null)
  return {
    fresh,
    changed: descending([...changed].filter((uid) => before.has(uid) && present.has(uid))),
    gone,
    modseq: counts ? folder.modseq : null,
    flags,
  }
}
