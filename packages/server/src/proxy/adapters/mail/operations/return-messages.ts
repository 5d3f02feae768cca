import type { ImapFlow } from 'imapflow'
import type { ReplicaChange } from '../../../../ports/replica.ts'
import type { UndoOutcome, UndoPlan, UndoPoint } from '../../../../ports/service-adapter.ts'
import { sameFlags } from '../look-at-messages.ts'
import type { MailAccount } from '../mail-account.ts'
import { entryIdOf } from '../message-place.ts'
import { refreshEntries } from '../refresh-entries.ts'
import { formatUids } from '../uid-set.ts'
import { reasonOf } from './failures.ts'
import { findWhereabouts, type Relocation, relocationOf, type Whereabouts } from './relocation.ts'
import { byFolder, shownTarget } from './targets.ts'

const shownFlags = (flags: readonly string[]): string => flags.join(' ') || '(none)'

/** Where it was, with the UID it had or another, and with the flags it had. */
const isHome = ({ was, stayed, back }: Whereabouts): boolean => {
  const home = stayed ?? back
  return home !== null && sameFlags(home.flags, was.flags)
}

const differenceIn = (one: Whereabouts, destination: string): string | null => {
  const { was, arrived } = one
  if (isHome(one)) return null
  // Back already, and only the flags are missing: an earlier attempt was cut off.
  if (one.stayed ?? one.back) return null
  if (!arrived) return `${shownTarget(was)} is not in ${destination} any more`
  return sameFlags(arrived.flags, was.flags)
    ? null
    : `${shownTarget(was)} has the flags ${shownFlags(arrived.flags)}, and had ${shownFlags(was.flags)}`
}

const planOf = (found: readonly Whereabouts[], { destination }: Relocation): UndoPlan => {
  const differences = found.flatMap((one) => differenceIn(one, destination.path) ?? [])
  if (differences.length > 0)
    return {
      kind: 'refused',
      reason: { detail: 'messages were changed or moved since' },
      differences,
    }
  const steps = found
    .filter((one) => !isHome(one))
    .map(({ was }) => `move ${shownTarget(was)} from ${destination.path} back to ${was.folder}`)
  return { kind: 'possible', steps: steps.length > 0 ? steps : ['nothing: all is as it was'] }
}

/** Preview of undoing a move now. */
export const planReturn = async (
  account: MailAccount,
  point: UndoPoint,
  signal: AbortSignal,
): Promise<UndoPlan> => {
  const relocation = relocationOf(point.capture)
  const found = await account.imap('use', signal, (client) => findWhereabouts(client, relocation))
  return planOf(found, relocation)
}

const moveBack = async (
  client: ImapFlow,
  found: readonly Whereabouts[],
  { destination }: Relocation,
): Promise<void> => {
  const away = found.filter(({ stayed, back }) => !stayed && !back)
  for (const [folder, list] of byFolder(away.map(({ was, arrived }) => ({ ...was, arrived })))) {
    const uids = list.flatMap(({ arrived }) => (arrived ? [arrived.uid] : []))
    await client.mailboxOpen(destination.path)
    await client.messageMove(formatUids(uids), folder, { uid: true })
  }
  // A copy that a server without MOVE left behind when it was cut off.
  const doubled = found.filter((one) => isHome(one) && one.arrived)
  if (doubled.length === 0) return
  await client.mailboxOpen(destination.path)
  await client.messageDelete(formatUids(doubled.flatMap(({ arrived }) => arrived?.uid ?? [])), {
    uid: true,
  })
}

/** Gives what is back the flags it had, where moving did not keep them. */
const restoreFlags = async (
  account: MailAccount,
  client: ImapFlow,
  found: readonly Whereabouts[],
): Promise<ReplicaChange[]> => {
  const changes: ReplicaChange[] = []
  const rows = new Map(found.map((one) => [one.was, one]))
  for (const [folder, list] of byFolder(found.map(({ was }) => was))) {
    await client.mailboxOpen(folder)
    const uids: number[] = []
    for (const was of list) {
      const one = rows.get(was)
      const home = one?.stayed ?? one?.back
      if (!home) continue
      if (!sameFlags(home.flags, was.flags))
        await client.messageFlagsSet(`${home.uid}`, [...was.flags], { uid: true })
      uids.push(home.uid)
    }
    changes.push(...(await refreshEntries(account, client, uids)))
  }
  return changes
}

const goneFrom = (
  found: readonly Whereabouts[],
  { destination }: Relocation,
): readonly ReplicaChange[] =>
  found.flatMap(({ arrived }) =>
    arrived
      ? [
          {
            kind: 'remove' as const,
            key: {
              collection: destination.path,
              id: entryIdOf({ uidvalidity: destination.uidvalidity, uid: arrived.uid }),
            },
          },
        ]
      : [],
  )

/** Moves the messages back, each to its folder with its flags, and looks whether they are there. */
export const returnMessages = async (
  account: MailAccount,
  point: UndoPoint,
  signal: AbortSignal,
): Promise<UndoOutcome> => {
  const relocation = relocationOf(point.capture)
  try {
    return await account.imap('use', signal, async (client): Promise<UndoOutcome> => {
      const found = await findWhereabouts(client, relocation)
      const plan = planOf(found, relocation)
      if (plan.kind === 'refused') return plan
      await moveBack(client, found, relocation)
      const changes = [
        ...goneFrom(found, relocation),
        ...(await restoreFlags(account, client, await findWhereabouts(client, relocation))),
      ]
      const left = (await findWhereabouts(client, relocation)).filter((one) => !isHome(one))
      return left.length === 0
        ? { kind: 'undone', result: { returned: found.length }, changes }
        : { kind: 'not_undone', reason: { detail: 'not all messages are back yet' } }
    })
  } catch (error) {
    return { kind: 'not_undone', reason: reasonOf(error) }
  }
}
