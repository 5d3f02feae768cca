import { GatehouseError } from '@gatehouse/contract'
import type { ImapFlow } from 'imapflow'
import { foldersCollection, type MailFolderFacts } from '../../../domain/mail/message.ts'
import type { ReplicaChange, ReplicaEntry } from '../../../ports/replica.ts'
import type { SyncBatch } from '../../../ports/service-adapter.ts'
import { type FolderState, formatCursor, parseCursor } from './cursor.ts'
import { fetchMessages } from './fetch-messages.ts'
import { compareFolder, type FolderNews } from './folder-news.ts'
import { listFolders, type MailFolder } from './folders.ts'
import { isGarbled } from './is-garbled.ts'
import { inbox, standing } from './listen-for-mail.ts'
import type { MailAccount } from './mail-account.ts'
import { entryIdOf } from './message-place.ts'

/** Messages in a batch: reads and stops come between. */
const windowMessages = 100
const removalsMax = 500
/** How many messages of a run may be looked for one by one, before the server itself is held to be broken. */
const isolationsMax = 64

type Run = {
  readonly account: MailAccount
  readonly signal: AbortSignal
  readonly states: Map<string, FolderState>
  done: number
  total: number
  isolations: number
}

const foldersEntry = (folders: readonly MailFolder[]): ReplicaEntry => ({
  collection: foldersCollection,
  id: 'folders',
  version: '',
  sort_ms: 0,
  until_ms: 0,
  title: '',
  from: '',
  text: '',
  flags: [],
  keys: [],
  body: {
    folders: folders.map(
      ({ path, use, messages, unseen }) =>
        ({ path, use, messages, unseen }) satisfies MailFolderFacts,
    ),
  },
  size_bytes: 0,
})

const chunks = <T>(list: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(list.length / size) }, (_, at) =>
    list.slice(at * size, (at + 1) * size),
  )

/** Opens the folder unless it is open, and makes sure that its UIDs still mean the same. */
const openFolder = async (client: ImapFlow, { path, uidvalidity }: MailFolder): Promise<void> => {
  const { mailbox } = client
  const opened =
    mailbox && mailbox.path === path && mailbox.readOnly
      ? mailbox
      : await client.mailboxOpen(path, { readOnly: true })
  if (`${opened.uidValidity}` !== uidvalidity)
    throw Object.assign(new Error(`the folder ${path} was made anew meanwhile`), {
      code: 'Renewed',
    })
}

/** Whole beginnings of messages, a quarter of a megabyte each: few at a time. */
const sourcesMax = 8

const leftOut = ({ account }: Run, folder: MailFolder, uids: readonly number[]): void =>
  account.connection.log.warn(
    { service: account.connection.service, folder: folder.path, uids },
    'messages could not be read and were left out',
  )

/** Reads some messages; where an answer is garbled, the message that makes it so is found by halving. */
const readSome = async (
  run: Run,
  folder: MailFolder,
  uids: readonly number[],
  structure: boolean,
): Promise<ReplicaEntry[]> => {
  const { account, signal } = run
  try {
    return await account.imap('sync', signal, async (client) => {
      await openFolder(client, folder)
      const { path, uidvalidity } = folder
      const fetching = { client, reader: account.reader, folder: path, uidvalidity }
      return fetchMessages(fetching, uids, { structure })
    })
  } catch (error) {
    run.isolations += 1
    if (!isGarbled(error) || run.isolations > isolationsMax) throw error
    if (uids.length > 1) {
      const half = uids.length >> 1
      return [
        ...(await readSome(run, folder, uids.slice(0, half), structure)),
        ...(await readSome(run, folder, uids.slice(half), structure)),
      ]
    }
    return []
  }
}

/**
 * Reads a window. The library drops answers that it cannot take apart, such as for a message of too many
 * layers: those are read again without their structure, from the beginning of their text.
 */
const readWindow = async (
  run: Run,
  folder: MailFolder,
  uids: readonly number[],
): Promise<ReplicaEntry[]> => {
  const missing = (found: readonly ReplicaEntry[]) => {
    const ids = new Set(found.map(({ id }) => id))
    return uids.filter((uid) => !ids.has(entryIdOf({ uidvalidity: folder.uidvalidity, uid })))
  }
  const entries = await readSome(run, folder, uids, true)
  for (const some of chunks(missing(entries), sourcesMax))
    entries.push(...(await readSome(run, folder, some, false)))
  // Deleted since the list was made, or beyond reading.
  const lost = missing(entries)
  if (lost.length > 0) leftOut(run, folder, lost)
  return entries
}

const stored = (
  run: Run,
  state: FolderState,
  path: string,
): Pick<SyncBatch, 'cursor' | 'progress'> => {
  run.states.set(path, state)
  return {
    cursor: formatCursor(run.states),
    progress: { done: run.done, total: Math.max(run.total, run.done) },
  }
}

const stateOf = (folder: MailFolder, news: FolderNews, uids: ReadonlySet<number>): FolderState => ({
  uidvalidity: folder.uidvalidity,
  // Until all is read these say "look again": a folder that is as they say is not looked at.
  uidnext: 0,
  messages: -1,
  unseen: 0,
  modseq: news.modseq,
  uids,
  flags: news.flags,
})

async function* syncFolder(run: Run, folder: MailFolder): AsyncGenerator<SyncBatch> {
  const known = run.states.get(folder.path)
  const kept = known?.uidvalidity === folder.uidvalidity ? known : null
  const news = await run.account.imap('sync', run.signal, async (client) => {
    await openFolder(client, folder)
    return compareFolder(client, folder, kept)
  })
  const { path } = folder
  // The UIDs mean other messages now: what is held of the folder is of another time.
  if (known && !kept) yield { changes: [], gone: [path] }
  const uids = new Set(kept?.uids ?? [])
  for (const gone of chunks(news.gone, removalsMax)) {
    for (const uid of gone) uids.delete(uid)
    const changes = gone.map(
      (uid): ReplicaChange => ({
        kind: 'remove',
        key: { collection: path, id: entryIdOf({ uidvalidity: folder.uidvalidity, uid }) },
      }),
    )
    yield { changes }
  }
  // A cut run goes on where it was: what changed is asked for again until all of it has been stored.
  const unfinished = {
    ...news,
    modseq: kept?.modseq ?? news.modseq,
    flags: kept?.flags ?? news.flags,
  }
  for (const window of chunks([...news.changed, ...news.fresh], windowMessages)) {
    const entries = await readWindow(run, folder, window)
    for (const uid of window) uids.add(uid)
    run.done += window.length
    yield {
      changes: entries.map((entry): ReplicaChange => ({ kind: 'put', entry })),
      ...stored(run, stateOf(folder, unfinished, new Set(uids)), path),
    }
  }
  const { uidvalidity, uidnext, messages, unseen } = folder
  const state = {
    uidvalidity,
    uidnext,
    messages,
    unseen,
    modseq: news.modseq,
    uids,
    flags: news.flags,
  }
  yield { changes: [], ...stored(run, state, path) }
}

const asBefore = (folder: MailFolder, state: FolderState | undefined): boolean =>
  state?.uidvalidity === folder.uidvalidity &&
  state.uidnext === folder.uidnext &&
  state.messages === folder.messages &&
  state.unseen === folder.unseen &&
  state.modseq === folder.modseq

/** Where the server counts no changes, a flag may have changed without any number showing it. */
const flagsCompareMs = 600_000

const mayRest = (
  account: MailAccount,
  folder: MailFolder,
  state: FolderState | undefined,
): boolean => {
  if (!asBefore(folder, state)) return false
  if (folder.modseq !== null) return true
  const now = account.connection.clock.now()
  return now - (account.flagsComparedMs.get(folder.path) ?? -flagsCompareMs) < flagsCompareMs
}

/** Changes in the mailbox since the cursor, folder by folder, the newest messages first. */
export async function* syncMail(
  account: MailAccount,
  { cursor }: { readonly cursor: string | null },
  signal: AbortSignal,
): AsyncGenerator<SyncBatch> {
  const parsed = cursor === null ? null : parseCursor(cursor)
  const states = new Map(parsed ?? [])
  const folders = await account.imap('sync', signal, (client) =>
    listFolders(client, account.settings),
  )
  if (folders.length === 0)
    throw new GatehouseError('ServiceUnavailable', {
      service: account.connection.service,
      detail: 'the server tells of no folder that could be read',
    })
  const mine = folders.find(({ path }) => path === inbox)
  account.inboxStood = mine ? standing(mine.uidnext, mine.messages) : null
  const present = new Set(folders.map(({ path }) => path))
  // Of a cursor that another version wrote nothing is known: all is read anew.
  const unknown = cursor !== null && parsed === null ? present : []
  const gone = [...[...states.keys()].filter((path) => !present.has(path)), ...unknown]
  for (const path of gone) states.delete(path)
  const due = folders.filter((folder) => !mayRest(account, folder, states.get(folder.path)))
  const total = due.reduce(
    (sum, { path, messages }) => sum + Math.max(0, messages - (states.get(path)?.uids.size ?? 0)),
    0,
  )
  const run: Run = { account, signal, states, done: 0, total, isolations: 0 }
  yield {
    changes: [{ kind: 'put', entry: foldersEntry(folders) }],
    ...(gone.length > 0 ? { gone } : {}),
    cursor: formatCursor(states),
  }
  for (const folder of due) {
    yield* syncFolder(run, folder)
    account.flagsComparedMs.set(folder.path, account.connection.clock.now())
  }
}
