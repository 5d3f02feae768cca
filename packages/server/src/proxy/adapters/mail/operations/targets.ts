import type { ImapFlow } from 'imapflow'
import { z } from 'zod'
import type { CaptureRefusal, Json } from '../../../../ports/service-adapter.ts'
import { lookAtMessages } from '../look-at-messages.ts'
import { refused } from './failures.ts'

/** A message that a write is about, as the replica knew it. */
export const target = z.strictObject({
  ref: z.string(),
  folder: z.string(),
  uidvalidity: z.string(),
  uid: z.int(),
  fingerprint: z.string(),
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

/** The targets as they stand, or why the write makes no sense any more. */
export const captureTargets = async (
  client: ImapFlow,
  given: Json,
): Promise<
  | {
      readonly kind: 'captured'
      readonly messages: Captured[]
      readonly uidnext: Record<string, number>
    }
  | CaptureRefusal
> => {
  const messages: Captured[] = []
  const uidnext: Record<string, number> = {}
  for (const [folder, list] of byFolder(targets.parse(given))) {
    const opened = await openFolder(client, folder, { readOnly: true })
    if (!opened) return refused(`there is no folder ${folder} any more`)
    uidnext[folder] = opened.uidnext
    const found = await lookAtMessages(
      client,
      list.map(({ uid }) => uid),
    )
    for (const one of list) {
      const now = found.find(({ uid }) => uid === one.uid)
      if (opened.uidvalidity !== one.uidvalidity || now?.fingerprint !== one.fingerprint)
        return refused(
          `the message ${shownTarget(one)} is not in ${folder} any more`,
          'Search for it again: somebody moved or deleted it.',
        )
      messages.push({ ...one, flags: [...now.flags] })
    }
  }
  return { kind: 'captured', messages, uidnext }
}
