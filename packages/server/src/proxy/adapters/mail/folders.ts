import type { ImapFlow, ListResponse } from 'imapflow'
import { foldersCollection } from '../../../domain/mail/message.ts'
import type { MailSettings } from './settings.ts'

/** Use of a folder, where the server says so or its name does. */
export type FolderUse =
  | 'inbox'
  | 'sent'
  | 'drafts'
  | 'trash'
  | 'junk'
  | 'archive'
  | 'all'
  | 'flagged'

export type MailFolder = {
  readonly path: string
  readonly use: FolderUse | null
  readonly uidvalidity: string
  readonly uidnext: number
  readonly messages: number
  readonly unseen: number
  readonly modseq: string | null
}

const uses: Readonly<Record<string, FolderUse>> = {
  '\\Inbox': 'inbox',
  '\\Sent': 'sent',
  '\\Drafts': 'drafts',
  '\\Trash': 'trash',
  '\\Junk': 'junk',
  '\\Archive': 'archive',
  '\\All': 'all',
  '\\Flagged': 'flagged',
}

const foldersMax = 2_000

const skips = (patterns: readonly string[], path: string): boolean =>
  patterns.some((pattern) =>
    new RegExp(
      `^${pattern
        .split('*')
        .map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'))
        .join('.*')}$`,
      'i',
    ).test(path),
  )

const readable = (folder: ListResponse): boolean =>
  folder.path !== foldersCollection &&
  !folder.flags.has('\\Noselect') &&
  !folder.flags.has('\\NonExistent')

const counted = (folder: ListResponse): MailFolder | null => {
  const { status } = folder
  if (!status || status.uidValidity === undefined || status.uidNext === undefined) return null
  return {
    path: folder.path,
    use: uses[folder.specialUse ?? ''] ?? null,
    uidvalidity: `${status.uidValidity}`,
    uidnext: status.uidNext,
    messages: status.messages ?? 0,
    unseen: status.unseen ?? 0,
    modseq: status.highestModseq ? `${status.highestModseq}` : null,
  }
}

/** Every folder that is read, the inbox first. One whose counts the server does not tell is left out. */
export const listFolders = async (
  client: ImapFlow,
  settings: MailSettings,
): Promise<readonly MailFolder[]> => {
  const statusQuery = { messages: true, uidNext: true, uidValidity: true, unseen: true }
  const listed = await client.list({
    statusQuery: {
      ...statusQuery,
      ...(client.enabled.has('CONDSTORE') ? { highestModseq: true } : {}),
    },
  })
  const first: readonly (FolderUse | null)[] = ['inbox', 'sent', 'drafts']
  const rank = ({ use }: MailFolder): number => {
    const at = first.indexOf(use)
    return at < 0 ? first.length : at
  }
  return listed
    .filter((folder) => readable(folder) && !skips(settings.skip_folders, folder.path))
    .slice(0, foldersMax)
    .flatMap((folder) => counted(folder) ?? [])
    .toSorted((a, b) => rank(a) - rank(b) || (a.path < b.path ? -1 : 1))
}

/** The folder for a use, as the server has it now; null where there is none. */
export const findFolder = async (client: ImapFlow, use: FolderUse): Promise<string | null> => {
  const listed = await client.list()
  return (
    listed.find((folder) => uses[folder.specialUse ?? ''] === use && readable(folder))?.path ?? null
  )
}
