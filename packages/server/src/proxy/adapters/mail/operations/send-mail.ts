import type { JsonObject } from '../../../../ports/json.ts'
import type {
  Capture,
  ServiceOperation,
  ServiceWrite,
  WriteOutcome,
  WriteProof,
} from '../../../../ports/service-adapter.ts'
import { composeMail, withBlindCopies } from '../compose-mail.ts'
import { deliverMail } from '../deliver-mail.ts'
import { type FolderUse, findFolder } from '../folders.ts'
import { jsonText } from '../json-text.ts'
import { findByMessageId } from '../look-at-messages.ts'
import type { MailAccount } from '../mail-account.ts'
import { type OutgoingMail, parseOutgoing } from '../outgoing.ts'
import { never } from './failures.ts'

const sentNote = 'A mail that was sent cannot be called back: cancel it before it is.'

/** Puts a copy where the sender looks for it. The mail is sent already: failing here changes nothing about that. */
const keepCopy = async (
  account: MailAccount,
  mail: OutgoingMail,
  raw: Buffer,
  signal: AbortSignal,
): Promise<string> => {
  if (account.settings.sent_copy === 'server') return 'left to the server'
  try {
    return await account.imap('use', signal, async (client) => {
      const folder = await findFolder(client, 'sent')
      if (folder === null) return 'none: there is no folder for sent mail'
      await client.append(folder, withBlindCopies(mail, raw), ['\\Seen'], new Date(mail.date))
      return folder
    })
  } catch {
    return 'none: the folder for sent mail could not be written'
  }
}

/** Marks what was answered, as mail programs do; of no weight if it fails. */
const markOriginal = async (
  account: MailAccount,
  { original }: OutgoingMail,
  signal: AbortSignal,
): Promise<void> => {
  if (!original) return
  await account
    .imap('use', signal, async (client) => {
      const opened = await client.mailboxOpen(original.folder)
      if (`${opened.uidValidity}` !== original.uidvalidity) return
      await client.messageFlagsAdd(`${original.uid}`, [original.mark], { uid: true })
    })
    .catch(() => {})
}

const execute = async (
  account: MailAccount,
  write: ServiceWrite,
  signal: AbortSignal,
  executed: (result: JsonObject) => void,
): Promise<WriteOutcome> => {
  const mail = parseOutgoing(write.arguments, write.files)
  const raw = await composeMail(mail, write.files)
  const { connection, settings, timeouts } = account
  const outcome = await deliverMail(
    { connection, settings, timeouts, signal },
    { from: mail.from.address, to: [...new Set([...mail.to, ...mail.cc, ...mail.bcc])] },
    raw,
  )
  if (outcome.kind === 'unknown') return outcome
  if (outcome.kind === 'not_taken') {
    const { reason, final } = outcome
    return final
      ? never(reason.detail, reason.fix)
      : { kind: 'not_executed', reason, retry: { after_ms: null } }
  }
  const resultWith = (sent_copy: string): JsonObject => ({
    message_id: mail.message_id,
    size_bytes: raw.length,
    sent_copy,
    ...(outcome.refused.length > 0 ? { refused_recipients: outcome.refused } : {}),
  })
  executed(resultWith('unknown: it was cut off while the copy was made'))
  const sent_copy = await keepCopy(account, mail, raw, signal)
  await markOriginal(account, mail, signal)
  return { kind: 'executed', result: resultWith(sent_copy) }
}

const searched: readonly FolderUse[] = ['sent', 'all', 'inbox']

/** A copy in the mailbox proves that it was sent. That there is none proves nothing: the copy comes last. */
const prove = async (
  account: MailAccount,
  write: ServiceWrite,
  signal: AbortSignal,
): Promise<WriteProof> => {
  const message_id = jsonText(write.arguments['message_id'])
  const found = await account.imap('use', signal, async (client) => {
    for (const use of searched) {
      const folder = await findFolder(client, use)
      if (folder === null) continue
      await client.mailboxOpen(folder, { readOnly: true })
      if ((await findByMessageId(client, message_id)).length > 0) return folder
    }
    return null
  })
  return found === null
    ? {
        kind: 'unknown',
        reason: {
          detail: 'the mail may have left, and no copy of it is in the mailbox',
          fix: 'Ask a recipient, or look into the log of the mail server, before it is sent again.',
        },
      }
    : { kind: 'executed', result: { message_id, sent_copy: found } }
}

const capture = async (write: ServiceWrite): Promise<Capture> => ({
  before: null,
  expected: { message_id: parseOutgoing(write.arguments, write.files).message_id },
})

/** Sending, answering and passing on differ in what they are made of, and in nothing that happens here. */
export const sendOperation = (
  name: 'send' | 'reply' | 'forward',
): ServiceOperation<MailAccount> => ({
  name,
  delay_seconds: 60,
  timeout_seconds: 120,
  undoable: false,
  undo_note: sentNote,
  redact: [],
  capture: (_account, write) => capture(write),
  execute: (account, write, _capture, signal, executed) =>
    execute(account, write, signal, executed),
  prove: (account, write, _capture, signal) => prove(account, write, signal),
  planUndo: async () => ({ kind: 'refused', reason: { detail: sentNote }, differences: [] }),
  undo: async () => ({ kind: 'refused', reason: { detail: sentNote }, differences: [] }),
})
