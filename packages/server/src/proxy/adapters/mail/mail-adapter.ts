import type { ServiceAdapter } from '../../../ports/service-adapter.ts'
import { checkConnection } from './check-connection.ts'
import { fetchAttachment } from './fetch-attachment.ts'
import { listenForMail } from './listen-for-mail.ts'
import { MailAccount } from './mail-account.ts'
import { type MailTimeouts, mailTimeouts } from './open-imap.ts'
import { draftOperation } from './operations/draft.ts'
import { flagOperation } from './operations/flag.ts'
import { deleteOperation, moveOperation } from './operations/relocate.ts'
import { sendOperation } from './operations/send-mail.ts'
import { mailSecrets, mailSettings } from './settings.ts'
import { syncMail } from './sync-mail.ts'

/** E-mail: read by IMAP, sent by SMTP. */
export const createMailAdapter = (
  timeouts: MailTimeouts = mailTimeouts,
): ServiceAdapter<MailAccount> => ({
  kind: 'mail',
  title: 'E-mail (IMAP and SMTP)',
  settings: mailSettings,
  secrets: mailSecrets,
  sync_every_seconds: 30,
  operations: [
    sendOperation('send'),
    sendOperation('reply'),
    sendOperation('forward'),
    draftOperation,
    moveOperation,
    flagOperation,
    deleteOperation,
  ],
  test: (connection, signal) =>
    checkConnection({
      connection,
      settings: mailSettings.parse(connection.settings),
      timeouts,
      signal,
    }),
  open: async (connection) => new MailAccount(connection, timeouts),
  sync: (account, since, signal) => syncMail(account, since, signal),
  listen: (account, hear, signal) => listenForMail(account, hear, signal),
  fetchPart: (account, part, signal) => fetchAttachment(account, part, signal),
})
