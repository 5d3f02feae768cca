import type { ImapFlow } from 'imapflow'
import { z } from 'zod'
import type { Capture } from '../../../../ports/service-adapter.ts'
import {
  type Looked,
  lookAtArrivals,
  lookAtMessages,
  matchByFingerprint,
} from '../look-at-messages.ts'
import { byFolder, type Captured, captured, openFolder } from './targets.ts'

const before = z.object({
  messages: z.array(captured),
  /** The next UID of each folder that messages leave: what comes back has that one or a higher. */
  uidnext: z.record(z.string(), z.int()),
  destination: z.object({ path: z.string(), uidvalidity: z.string(), uidnext: z.int() }),
})
export type Relocation = z.output<typeof before>

export const relocationOf = (capture: Capture): Relocation => before.parse(capture.before)

/** Where a message stands that was to go from a folder to another. */
export type Whereabouts = {
  readonly was: Captured
  /** Where it was, with the same UID. */
  readonly stayed: Looked | null
  /** In the destination, among what came there since. */
  readonly arrived: Looked | null
  /** In its old folder again, among what came there since. */
  readonly back: Looked | null
}

type Found = {
  readonly stayed: ReadonlyMap<number, Looked>
  readonly back: readonly (Looked | null)[]
}

/** Messages of these that are in the folder that they were taken from. */
const lookBack = async (
  client: ImapFlow,
  folder: string,
  list: readonly Captured[],
  uidnext: number,
): Promise<Found> => {
  const opened = await openFolder(client, folder, { readOnly: true })
  if (!opened || opened.uidvalidity !== list[0]?.uidvalidity)
    return { stayed: new Map(), back: list.map(() => null) }
  const uids = list.map(({ uid }) => uid)
  const stayed = (await lookAtMessages(client, uids)).filter((one) =>
    list.some(({ uid, fingerprint }) => uid === one.uid && fingerprint === one.fingerprint),
  )
  const arrivals = opened.uidnext > uidnext ? await lookAtArrivals(client, uidnext) : []
  return {
    stayed: new Map(stayed.map((one) => [one.uid, one])),
    back: matchByFingerprint(
      list.map(({ fingerprint }) => fingerprint),
      arrivals,
    ),
  }
}

/** Looks for every message in both places. The proof of a move, whatever became of the answer to it. */
export const findWhereabouts = async (
  client: ImapFlow,
  { messages, uidnext, destination }: Relocation,
): Promise<Whereabouts[]> => {
  const opened = await openFolder(client, destination.path, { readOnly: true })
  const came =
    opened?.uidvalidity === destination.uidvalidity && opened.uidnext > destination.uidnext
      ? await lookAtArrivals(client, destination.uidnext)
      : []
  const arrived = matchByFingerprint(
    messages.map(({ fingerprint }) => fingerprint),
    came,
  )
  const arrivedOf = new Map(messages.map((one, at) => [one, arrived[at] ?? null]))
  const all: Whereabouts[] = []
  for (const [folder, list] of byFolder(messages)) {
    const { stayed, back } = await lookBack(client, folder, list, uidnext[folder] ?? 1)
    for (const [at, was] of list.entries())
      all.push({
        was,
        stayed: stayed.get(was.uid) ?? null,
        arrived: arrivedOf.get(was) ?? null,
        back: back[at] ?? null,
      })
  }
  return all
}

/** Whether single messages can be taken out of a folder without touching others. */
export const canMove = (client: ImapFlow): boolean =>
  client.capabilities.has('MOVE') || client.capabilities.has('UIDPLUS')
