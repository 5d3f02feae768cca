import type { ImapFlow } from 'imapflow'
import { z } from 'zod'
import type { Json } from '../../../../ports/json.ts'
import type { CaptureRefusal } from '../../../../ports/service-adapter.ts'
import { findByMessageId, lookAtMessages } from '../look-at-messages.ts'
import { refused } from './failures.ts'

/** A message that a write is about, as the replica knew it. */
export const target = z.strictObject({
  ref: z.string(),
  folder: z.string(),
  uidvalidity: z.string(),
  uid: z.int(),
  fingerprint: z.string(),
  /** Null where it has none, or none that can be searched for. */
  message_id: z.string().max(998).nullable(),
  subject: z.string(),
})
export type Target = z.output<typeof target>

export const targets = z.array(target).min(1).max(100)

/** A target as it stood before the write. */
export const captured = target.extend({ flags: z.array(z.string()) })
export type Captured = z.output<typeof captured>

export const shownTarget = ({ subject, ref }: Pick<Target, 'subject' | 'ref'>): string =>
  subject === '' ? ref : `"${subject}"`

/** By folder, in the order of the first of each. */
export const byFolder = <T extends { readonly folder: string }>(
  list: readonly T[],
): Map<string, T[]> => {
  const groups = new Map<string, T[]>()
  for (const one of list) groups.set(one.folder, [...(groups.get(one.folder) ?? []), one])
  return groups
}

export type OpenedFolder = { readonly uidvalidity: string; readonly uidnext: number }

/** Null where there is no such folder (any more). */
export const openFolder = async (
  client: ImapFlow,
  path: string,
  { readOnly }: { readonly readOnly: boolean },
): Promise<OpenedFolder | null> => {
  try {
    const opened = await client.mailboxOpen(path, { readOnly })
    return { uidvalidity: `${opened.uidValidity}`, uidnext: opened.uidNext }
  } catch (error) {
    // The server is there and says no: the folder is not. Anything else is a failure.
    if ((error as { readonly responseStatus?: unknown } | null)?.responseStatus === 'NO')
      return null
    throw error
  }
}

const searchedFolders = 200

type Captures = { readonly messages: Captured[]; readonly uidnext: Record<string, number> }

/**
 * A message that is not where it was: an earlier write, or a person, has moved it. Found by its Message-ID
 * and told by its content; null where there is none of it, or several.
 */
const captureElsewhere = async (
  client: ImapFlow,
  one: Target,
  into: Captures,
): Promise<boolean> => {
  if (one.message_id === null) return false
  const found: Captured[] = []
  const listed = (await client.list()).filter(({ flags }) => !flags.has('\\Noselect'))
  for (const { path } of listed.slice(0, searchedFolders)) {
    const opened = await openFolder(client, path, { readOnly: true })
    if (!opened) continue
    const uids = await findByMessageId(client, one.message_id)
    for (const { uid, fingerprint, flags } of await lookAtMessages(client, uids.slice(0, 20)))
      if (fingerprint === one.fingerprint) {
        const { uidvalidity } = opened
        found.push({ ...one, folder: path, uidvalidity, uid, flags: [...flags] })
        into.uidnext[path] ??= opened.uidnext
      }
  }
  const [only, ...others] = found
  if (!only || others.length > 0) return false
  into.messages.push(only)
  return true
}

/**
 * The targets as they stand, or why the write makes no sense any more. `follows`: one that was moved since
 * is meant where it is now.
 */
export const captureTargets = async (
  client: ImapFlow,
  given: Json,
  { follows }: { readonly follows: boolean },
): Promise<({ readonly kind: 'captured' } & Captures) | CaptureRefusal> => {
  const into: Captures = { messages: [], uidnext: {} }
  const missing: Target[] = []
  for (const [folder, list] of byFolder(targets.parse(given))) {
    const opened = await openFolder(client, folder, { readOnly: true })
    if (opened) into.uidnext[folder] = opened.uidnext
    const uids = list.map(({ uid }) => uid)
    const found = opened ? await lookAtMessages(client, uids) : []
    for (const one of list) {
      const now = found.find(({ uid }) => uid === one.uid)
      if (opened?.uidvalidity === one.uidvalidity && now?.fingerprint === one.fingerprint)
        into.messages.push({ ...one, flags: [...now.flags] })
      else missing.push(one)
    }
  }
  for (const one of missing)
    if (!follows || !(await captureElsewhere(client, one, into)))
      return refused(
        `the message ${shownTarget(one)} is not in ${one.folder} any more`,
        'Search for it again: somebody moved or deleted it.',
      )
  return { kind: 'captured', ...into }
}
