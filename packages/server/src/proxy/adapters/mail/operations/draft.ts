import type { ImapFlow } from 'imapflow'
import type { JsonObject } from '../../../../ports/json.ts'
import type {
  ServiceOperation,
  ServiceWrite,
  UndoPlan,
  UndoPoint,
  WriteOutcome,
} from '../../../../ports/service-adapter.ts'
import { composeMail, withBlindCopies } from '../compose-mail.ts'
import { saidText } from '../describe-failure.ts'
import { findFolder } from '../folders.ts'
import { jsonText } from '../json-text.ts'
import { findByMessageId, type Looked, lookAtMessages } from '../look-at-messages.ts'
import type { MailAccount } from '../mail-account.ts'
import { parseOutgoing } from '../outgoing.ts'
import { failedAt, never, reasonOf } from './failures.ts'

type Found = {
  readonly folder: string
  readonly uidvalidity: string
  readonly drafts: readonly Looked[]
}

/** The drafts of this Message-ID; the folder stays open for writing. */
const findDrafts = async (client: ImapFlow, messageId: string): Promise<Found | null> => {
  const folder = await findFolder(client, 'drafts')
  if (folder === null) return null
  const { uidValidity } = await client.mailboxOpen(folder)
  const uids = await findByMessageId(client, messageId)
  return { folder, uidvalidity: `${uidValidity}`, drafts: await lookAtMessages(client, uids) }
}

const resultOf = (messageId: string, found: Found): JsonObject => ({
  message_id: messageId,
  folder: found.folder,
  fingerprint: found.drafts[0]?.fingerprint ?? '',
})

const rejected = (error: unknown): string | null => {
  const status = (error as { readonly responseStatus?: unknown } | null)?.responseStatus
  const text = (error as { readonly responseText?: unknown } | null)?.responseText
  if (status !== 'NO' && status !== 'BAD') return null
  return saidText(text) || 'it gave no reason'
}

const execute = async (
  account: MailAccount,
  write: ServiceWrite,
  signal: AbortSignal,
): Promise<WriteOutcome> => {
  const mail = parseOutgoing(write.arguments, write.files)
  const raw = withBlindCopies(mail, await composeMail(mail, write.files))
  let touched = false
  try {
    return await account.imap('use', signal, async (client): Promise<WriteOutcome> => {
      const folder = await findFolder(client, 'drafts')
      if (folder === null) return never('there is no folder for drafts')
      touched = true
      try {
        await client.append(folder, raw, ['\\Draft', '\\Seen'], new Date(mail.date))
      } catch (error) {
        const said = rejected(error)
        if (said === null) throw error
        return never(`the server did not take the draft: ${said}`)
      }
      const found = await findDrafts(client, mail.message_id)
      return found && found.drafts.length > 0
        ? { kind: 'executed', result: resultOf(mail.message_id, found) }
        : { kind: 'unknown', reason: { detail: 'the server took the draft and does not show it' } }
    })
  } catch (error) {
    return failedAt(error, touched)
  }
}

/** Preview of the undo: null where the draft is gone already. */
const planned = async (
  client: ImapFlow,
  { write, result }: UndoPoint,
): Promise<UndoPlan | { readonly kind: 'draft'; readonly draft: Looked | null }> => {
  const found = await findDrafts(client, jsonText(write.arguments['message_id']))
  const [draft, ...more] = found?.drafts ?? []
  if (!draft) return { kind: 'draft', draft: null }
  const wasEdited = result !== null && result['fingerprint'] !== draft.fingerprint
  if (wasEdited || more.length > 0)
    return {
      kind: 'refused',
      reason: { detail: 'the draft was edited since' },
      differences: [wasEdited ? 'its content is another' : 'there are several drafts of this id'],
    }
  if (!client.capabilities.has('UIDPLUS'))
    return {
      kind: 'refused',
      reason: { detail: 'this server cannot remove a single message without removing others' },
      differences: [],
    }
  return { kind: 'draft', draft }
}

/** A draft in the folder for drafts. Undoing takes it out again, unless somebody has worked on it. */
export const draftOperation: ServiceOperation<MailAccount> = {
  name: 'draft',
  delay_seconds: 5,
  timeout_seconds: 60,
  undoable: true,
  undo_note: 'The draft is removed again, unless somebody has edited it.',
  redact: [],
  async capture(_account, write) {
    return {
      before: null,
      expected: { message_id: parseOutgoing(write.arguments, write.files).message_id },
    }
  },
  execute: (account, write, _capture, signal) => execute(account, write, signal),
  async prove(account, write, _capture, signal) {
    const messageId = jsonText(write.arguments['message_id'])
    const found = await account.imap('use', signal, (client) => findDrafts(client, messageId))
    return found && found.drafts.length > 0
      ? { kind: 'executed', result: resultOf(messageId, found) }
      : { kind: 'not_executed' }
  },
  async planUndo(account, point, signal) {
    const plan = await account.imap('use', signal, (client) => planned(client, point))
    if (plan.kind !== 'draft') return plan
    const subject = jsonText(point.write.arguments['subject'])
    return {
      kind: 'possible',
      steps: plan.draft
        ? [`remove the draft "${subject}"`]
        : ['nothing: the draft is gone already'],
    }
  },
  async undo(account, point, signal) {
    try {
      return await account.imap('use', signal, async (client) => {
        const plan = await planned(client, point)
        if (plan.kind === 'refused') return plan
        const uid = plan.kind === 'draft' ? plan.draft?.uid : undefined
        if (uid !== undefined && !(await client.messageDelete(`${uid}`, { uid: true })))
          return { kind: 'not_undone', reason: { detail: 'the server did not remove the draft' } }
        return { kind: 'undone', result: { removed: uid !== undefined } }
      })
    } catch (error) {
      return { kind: 'not_undone', reason: reasonOf(error) }
    }
  },
}
