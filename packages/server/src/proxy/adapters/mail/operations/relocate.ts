import type { ImapFlow } from 'imapflow'
import type { ReplicaChange } from '../../../../ports/replica.ts'
import type {
  Capture,
  CaptureRefusal,
  ServiceOperation,
  ServiceWrite,
  WriteOutcome,
  WriteProof,
} from '../../../../ports/service-adapter.ts'
import { findFolder } from '../folders.ts'
import { jsonText } from '../json-text.ts'
import type { MailAccount } from '../mail-account.ts'
import { entryIdOf, messageRefOf } from '../message-place.ts'
import { refreshEntries } from '../refresh-entries.ts'
import { formatUids } from '../uid-set.ts'
import { failedAt, never, refused } from './failures.ts'
import {
  canMove,
  findWhereabouts,
  type Relocation,
  relocationOf,
  type Whereabouts,
} from './relocation.ts'
import { planReturn, returnMessages } from './return-messages.ts'
import { byFolder, captureTargets, openFolder } from './targets.ts'

/** Where the messages go: named by the write, or the account's trash. */
type Destination = (client: ImapFlow, write: ServiceWrite) => Promise<string | CaptureRefusal>

const capture = async (
  client: ImapFlow,
  write: ServiceWrite,
  destinationOf: Destination,
): Promise<Capture | CaptureRefusal> => {
  if (!canMove(client))
    return refused('this server cannot move single messages without touching others')
  const path = await destinationOf(client, write)
  if (typeof path !== 'string') return path
  // A message that somebody filed since was not meant to be thrown away.
  const follows = write.operation !== 'delete'
  const found = await captureTargets(client, write.arguments['messages'] ?? null, { follows })
  if (found.kind === 'refused') return found
  const there = found.messages.find(({ folder }) => folder === path)
  if (there) return refused(`the message "${there.subject}" is in ${path} already`)
  const opened = await openFolder(client, path, { readOnly: true })
  if (!opened) return refused(`there is no folder ${path}`, 'email.folders lists those there are.')
  const destination = { path, uidvalidity: opened.uidvalidity, uidnext: opened.uidnext }
  const { messages, uidnext } = found
  return { before: { messages, uidnext, destination }, expected: { folder: path } }
}

/** Moves what is still there. What a copy of lies in the destination already is only taken away here. */
const moveRest = async (
  client: ImapFlow,
  folder: string,
  list: readonly Whereabouts[],
  destination: string,
  touch: () => void,
): Promise<void> => {
  const rest = list.flatMap(({ stayed, arrived }) => (stayed && !arrived ? [stayed.uid] : []))
  const doubled = list.flatMap(({ stayed, arrived }) => (stayed && arrived ? [stayed.uid] : []))
  if (rest.length + doubled.length === 0) return
  await client.mailboxOpen(folder)
  touch()
  if (rest.length > 0) await client.messageMove(formatUids(rest), destination, { uid: true })
  if (doubled.length > 0) await client.messageDelete(formatUids(doubled), { uid: true })
}

const resultOf = (found: readonly Whereabouts[], { destination }: Relocation) => ({
  moved: found.length,
  folder: destination.path,
  messages: found.map(({ was, arrived }) => ({
    was: was.ref,
    message_id: arrived
      ? messageRefOf(arrived.fingerprint, {
          folder: destination.path,
          uidvalidity: destination.uidvalidity,
          uid: arrived.uid,
        })
      : was.ref,
  })),
})

const isThere = ({ stayed, arrived }: Whereabouts): boolean => arrived !== null && stayed === null
const isHere = ({ stayed, arrived }: Whereabouts): boolean => stayed !== null && arrived === null

/** Changes that the replica shows at once: gone here, there instead. */
const movedChanges = async (
  account: MailAccount,
  client: ImapFlow,
  found: readonly Whereabouts[],
  { destination }: Relocation,
): Promise<ReplicaChange[]> => {
  await client.mailboxOpen(destination.path, { readOnly: true })
  const uids = found.flatMap(({ arrived }) => (arrived ? [arrived.uid] : []))
  const gone = found.map(
    ({ was }): ReplicaChange => ({
      kind: 'remove',
      key: { collection: was.folder, id: entryIdOf(was) },
    }),
  )
  return [...gone, ...(await refreshEntries(account, client, uids))]
}

const execute = async (
  account: MailAccount,
  kept: Capture,
  signal: AbortSignal,
): Promise<WriteOutcome> => {
  const relocation = relocationOf(kept)
  let touched = false
  try {
    return await account.imap('use', signal, async (client): Promise<WriteOutcome> => {
      const now = await findWhereabouts(client, relocation)
      const rows = new Map(now.map((one) => [one.was, one]))
      for (const [folder, list] of byFolder(relocation.messages))
        await moveRest(
          client,
          folder,
          list.flatMap((was) => rows.get(was) ?? []),
          relocation.destination.path,
          () => {
            touched = true
          },
        )
      const found = await findWhereabouts(client, relocation)
      if (found.every(isThere)) {
        const changes = await movedChanges(account, client, found, relocation)
        return { kind: 'executed', result: resultOf(found, relocation), changes }
      }
      if (found.every(isHere)) return never('the server did not move them')
      return { kind: 'unknown', reason: { detail: 'not all messages are where they were to go' } }
    })
  } catch (error) {
    return failedAt(error, touched)
  }
}

const prove = async (
  account: MailAccount,
  kept: Capture,
  signal: AbortSignal,
): Promise<WriteProof> => {
  const relocation = relocationOf(kept)
  const found = await account.imap('use', signal, (client) => findWhereabouts(client, relocation))
  if (found.every(isThere)) return { kind: 'executed', result: resultOf(found, relocation) }
  // Each is in one of the two places, or in both: moving again moves what is left, and nothing twice.
  if (found.every(({ stayed, arrived }) => stayed !== null || arrived !== null))
    return { kind: 'not_executed' }
  return {
    kind: 'unknown',
    reason: { detail: 'some messages are neither where they were nor where they were to go' },
  }
}

const relocation = (
  name: 'move' | 'delete',
  undo_note: string,
  destinationOf: Destination,
): ServiceOperation<MailAccount> => ({
  name,
  delay_seconds: name === 'delete' ? 30 : 5,
  timeout_seconds: 90,
  undoable: true,
  undo_note,
  redact: [],
  capture: (account, write, signal) =>
    account.imap('use', signal, (client) => capture(client, write, destinationOf)),
  execute: (account, _write, kept, signal) => execute(account, kept, signal),
  prove: (account, _write, kept, signal) => prove(account, kept, signal),
  planUndo: (account, point, signal) => planReturn(account, point, signal),
  undo: (account, point, signal) => returnMessages(account, point, signal),
})

/** Moves messages to another folder; undoing moves exactly these back, with the flags they had. */
export const moveOperation = relocation(
  'move',
  'Every message is moved back with its flags, unless somebody has changed or moved it since.',
  async (_client, write) => jsonText(write.arguments['folder']),
)

/** Deleting is moving to the trash. What is there already only a person can remove for good. */
export const deleteOperation = relocation(
  'delete',
  'Every message is taken out of the trash again, while it is there and as it was.',
  async (client) =>
    (await findFolder(client, 'trash')) ??
    refused('the account has no trash', 'Name a folder as the trash in the mail program.'),
)
