import { createMailAdapter } from '@gatehouse/server/proxy/adapters/mail/mail-adapter'
import type { Kit } from '@gatehouse/testkit'
import { Dovecot } from '@gatehouse/testkit/mail-server/dovecot'
import type { Maildir } from '@gatehouse/testkit/mail-server/maildir'
import { SmtpReceiver } from '@gatehouse/testkit/mail-server/smtp-receiver'
import { TcpGate } from '@gatehouse/testkit/mail-server/tcp-gate'
import { freely, ServiceKit } from '../proxy/service-kit.ts'
import { plainSettings } from './kit.ts'

/** A whole service with a mailbox: a real IMAP server behind a gate, and a receiver that counts. */
export class MailKit extends ServiceKit {
  readonly group = 'email'
  readonly server: Dovecot
  readonly smtp: SmtpReceiver
  readonly gate: TcpGate
  readonly mail: Maildir

  private constructor(kit: Kit, server: Dovecot, smtp: SmtpReceiver, gate: TcpGate) {
    super(kit)
    this.server = server
    this.smtp = smtp
    this.gate = gate
    this.mail = server.maildir()
  }

  /** `fill` puts mail there before the first sync, for which it waits. */
  static async open(fill: (mail: Maildir) => void, policy = freely('email')): Promise<MailKit> {
    const server = await Dovecot.start()
    const smtp = await SmtpReceiver.open({ users: { [server.user]: server.password } })
    const gate = await TcpGate.open(server.imapPort)
    fill(server.maildir())
    const settings = plainSettings(gate.port, smtp.port)
    const connect = { settings, secrets: { password: server.password } }
    const kit = await ServiceKit.connected(createMailAdapter(), connect, policy)
    return new MailKit(kit, server, smtp, gate)
  }

  async find(query: string, folder?: string): Promise<Found[]> {
    const { messages } = await this.call('search', { query, ...(folder ? { folder } : {}) })
    return messages as Found[]
  }

  async idOf(query: string, folder?: string): Promise<string> {
    const [found] = await this.find(query, folder)
    if (!found) throw new Error(`nothing is found for ${query}`)
    return found.message_id
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await super[Symbol.asyncDispose]()
    for (const one of [this.gate, this.smtp, this.server]) await one[Symbol.asyncDispose]()
  }
}

export type Found = {
  readonly message_id: string
  readonly folder: string
  readonly subject: string
  readonly unread: boolean
  readonly snippet: string
}
