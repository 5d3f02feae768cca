import { parseStored } from '../../../domain/parse-stored.ts'
import { formatUids, parseUids } from './uid-set.ts'

/** State of a folder after it was read. */
export type FolderState = {
  readonly uidvalidity: string
  readonly uidnext: number
  readonly messages: number
  readonly unseen: number
  /** Decimal; null where the server counts no changes (CONDSTORE). */
  readonly modseq: string | null
  /** Messages that the replica has. */
  readonly uids: ReadonlySet<number>
  /** Flags of the messages, where the server counts no changes: how else would a change be seen. */
  readonly flags: ReadonlyMap<string, ReadonlySet<number>> | null
}

export type MailCursor = ReadonlyMap<string, FolderState>

const form = 1

type Written = {
  readonly form: number
  readonly folders: readonly (readonly [
    string,
    Omit<FolderState, 'uids' | 'flags'> & {
      readonly uids: string
      readonly flags: readonly (readonly [string, string])[] | null
    },
  ])[]
}

export const formatCursor = (cursor: MailCursor): string =>
  JSON.stringify({
    form,
    folders: [...cursor].map(([path, state]) => [
      path,
      {
        ...state,
        uids: formatUids(state.uids),
        flags: state.flags && [...state.flags].map(([flag, uids]) => [flag, formatUids(uids)]),
      },
    ]),
  } satisfies Written)

/** Null for one of another version of the program: then everything is read anew. */
export const parseCursor = (text: string): MailCursor | null => {
  const written = parseStored<Written>(text, 'services.cursor_json')
  if (written.form !== form) return null
  return new Map(
    written.folders.map(([path, state]) => [
      path,
      {
        ...state,
        uids: parseUids(state.uids),
        flags: state.flags && new Map(state.flags.map(([flag, uids]) => [flag, parseUids(uids)])),
      },
    ]),
  )
}
