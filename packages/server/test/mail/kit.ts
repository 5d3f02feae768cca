import type { JsonObject } from '@gatehouse/server/ports/json'
import type { MailAccount } from '@gatehouse/server/proxy/adapters/mail/mail-account'
import { createMailAdapter } from '@gatehouse/server/proxy/adapters/mail/mail-adapter'
import { type MailTimeouts, mailTimeouts } from '@gatehouse/server/proxy/adapters/mail/open-imap'
import type { Dovecot } from '@gatehouse/testkit/mail-server/dovecot'
import type { StoredMail } from '@gatehouse/testkit/mail-server/maildir'
import type { SmtpReceiver } from '@gatehouse/testkit/mail-server/smtp-receiver'
import { ImapFlow } from 'imapflow'
import { AdapterRig, connectionOf, withQuick } from '../proxy/adapter-rig.ts'

export { never } from '../proxy/adapter-rig.ts'

/** Of a test of a server that hangs, so that the test does not. */
export const quickTimeouts: MailTimeouts = { connectMs: 700, greetingMs: 700, idleMs: 900 }

/** A plain connection to servers of this machine, as an operator may set it up. */
export const plainSettings = (
  imapPort: number,
  smtpPort: number,
  change: JsonObject = {},
): JsonObject => ({
  address: 'ana@example.org',
  name: 'Ana',
  imap_host: '127.0.0.1',
  imap_port: imapPort,
  imap_security: 'plain',
  smtp_host: '127.0.0.1',
  smtp_port: smtpPort,
  smtp_security: 'plain',
  ...change,
})

export const connectionTo = (settings: JsonObject, password?: string) =>
  connectionOf('mail', settings, password)

export class MailRig extends AdapterRig<MailAccount> {
  readonly order = 'newest_first'

  static async open(settings: JsonObject): Promise<MailRig> {
    return new MailRig(await AdapterRig.opened(createMailAdapter({ ...mailTimeouts }), settings))
  }

  /** Gives up soon on a server that says nothing to a new connection. */
  quickly<R>(work: () => Promise<R>): Promise<R> {
    return withQuick(this.account.timeouts, quickTimeouts, work)
  }

  /** The messages of a folder as a write names them. */
  async targets(folder: string): Promise<JsonObject[]> {
    return (await this.list(folder)).map(({ body }) => ({
      ref: body['ref'] ?? '',
      folder,
      uidvalidity: body['uidvalidity'] ?? '',
      uid: body['uid'] ?? 0,
      fingerprint: body['fingerprint'] ?? '',
      message_id: body['message_id'] ?? null,
      subject: body['subject'] ?? '',
    }))
  }
}

export const openRig = (
  server: Pick<Dovecot, 'imapPort'>,
  smtp: Pick<SmtpReceiver, 'port'> | null,
  change: JsonObject = {},
): Promise<MailRig> => MailRig.open(plainSettings(server.imapPort, smtp?.port ?? 1, change))

export const mailText = (
  headers: Readonly<Record<string, string>>,
  body = 'Hello.\r\n',
): string => {
  const lines = Object.entries({ From: 'Ben <ben@example.net>', To: 'ana@example.org', ...headers })
  return `${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`
}

/** Another mail program at work in the same mailbox. */
export const elsewhere = async (
  server: Pick<Dovecot, 'host' | 'imapPort' | 'user' | 'password'>,
  folder: string,
  work: (client: ImapFlow) => Promise<unknown>,
): Promise<void> => {
  await using client = new ImapFlow({
    host: server.host,
    port: server.imapPort,
    secure: false,
    doSTARTTLS: false,
    auth: { user: server.user, pass: server.password },
    logger: false,
  })
  await client.connect()
  await client.mailboxOpen(folder)
  await work(client)
}

/** Messages in a folder, without the names that a server gives. */
export const stand = (list: readonly StoredMail[]): string[] =>
  list.map(({ flags, bytes }) => `${flags} ${bytes.toString('base64')}`).toSorted()

let numbered = 0

/** An outgoing mail as a capability buffers it. */
export const outgoing = (change: JsonObject = {}): JsonObject => {
  numbered += 1
  return {
    message_id: `<test-${process.pid}-${numbered}@example.org>`,
    date: '2026-01-02T03:04:05.000Z',
    from: { name: 'Ana', address: 'ana@example.org' },
    to: ['ben@example.net'],
    cc: [],
    bcc: [],
    subject: 'Hello',
    text: 'Hello Ben.\n',
    html: null,
    in_reply_to: null,
    references: [],
    attachments: [],
    original: null,
    ...change,
  }
}
