import type { BufferedWrite } from '@gatehouse/contract'
import { createMailAdapter } from '@gatehouse/server/proxy/adapters/mail/mail-adapter'
import { createKit, failureIn, type Kit } from '@gatehouse/testkit'
import { Dovecot } from '@gatehouse/testkit/mail-server/dovecot'
import type { Maildir } from '@gatehouse/testkit/mail-server/maildir'
import { SmtpReceiver } from '@gatehouse/testkit/mail-server/smtp-receiver'
import { TcpGate } from '@gatehouse/testkit/mail-server/tcp-gate'
import { until, usual } from '../proxy/kit.ts'
import { plainSettings, quickTimeouts } from './kit.ts'

/** Agents may do everything with mail, so that tests speak of what it does. */
export const freely = 'version: 1\nrules:\n  - { match: "email.*", tier: autonomous }\n'

/** A whole service with a mailbox: a real IMAP server behind a gate, and a receiver that counts. */
export class MailKit implements AsyncDisposable {
  readonly kit: Kit
  readonly server: Dovecot
  readonly smtp: SmtpReceiver
  readonly gate: TcpGate
  readonly mail: Maildir

  private constructor(kit: Kit, server: Dovecot, smtp: SmtpReceiver, gate: TcpGate) {
    this.kit = kit
    this.server = server
    this.smtp = smtp
    this.gate = gate
    this.mail = server.maildir()
  }

  /** `fill` puts mail there before the first sync, for which it waits. */
  static async open(fill: (mail: Maildir) => void, policy = freely): Promise<MailKit> {
    const server = await Dovecot.start()
    const smtp = await SmtpReceiver.open({ users: { [server.user]: server.password } })
    const gate = await TcpGate.open(server.imapPort)
    fill(server.maildir())
    const adapter = createMailAdapter(quickTimeouts)
    const kit = await createKit({
      policy,
      services: { adapters: new Map([['mail', adapter]]), proxy: usual },
    })
    for (const name of ['alpha', 'beta']) await kit.agent(name)
    await kit.app.connectService(kit.operator(), {
      kind: 'mail',
      settings: plainSettings(gate.port, smtp.port),
      secrets: { password: server.password },
      agents: ['alpha'],
    })
    const opened = new MailKit(kit, server, smtp, gate)
    await until(async () => (await opened.service()).status === 'connected', 'the first sync')
    return opened
  }

  async service() {
    const { services } = await this.kit.app.showProxy(this.kit.operator())
    const [service] = services
    if (!service) throw new Error('there is no service')
    return service
  }

  /** What a call answers; one that fails throws its error. */
  async call(capability: string, args: object = {}, agent = 'alpha') {
    const outcome = await this.kit.invoke(agent, `email.${capability}`, args)
    if (outcome.kind === 'succeeded') return outcome.data
    throw Object.assign(new Error(JSON.stringify(outcome)), { failure: failureIn(outcome) })
  }

  /** The type of the error that a call fails with. */
  async failure(capability: string, args: object, agent = 'alpha'): Promise<string> {
    const outcome = await this.kit.invoke(agent, `email.${capability}`, args)
    return failureIn(outcome)?.type ?? outcome.kind
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

  async write(id: unknown): Promise<BufferedWrite> {
    const { writes } = await this.kit.app.listWrites(this.kit.operator(), {
      limit: 1_000,
      offset: 0,
    })
    const found = writes.find((one) => one.id === id)
    if (!found) throw new Error(`there is no write ${String(id)}`)
    return found
  }

  /** Lets the write's time come, and waits until it stands so. */
  async settled(id: unknown, status: string): Promise<BufferedWrite> {
    this.kit.clock.move(60_000)
    await until(async () => (await this.write(id)).status === status, `${String(id)} ${status}`)
    return this.write(id)
  }

  /** Reads what is new. */
  async sync(): Promise<void> {
    const before = (await this.service()).last_sync
    this.kit.clock.move(1)
    await this.kit.app.syncService(this.kit.operator(), { name: 'mail', full: false })
    await until(async () => (await this.service()).last_sync !== before, 'a sync')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kit[Symbol.asyncDispose]()
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
