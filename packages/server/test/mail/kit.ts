import { silent } from '@gatehouse/server/audit/testing'
import type { ReplicaStore } from '@gatehouse/server/ports/replica'
import type {
  Capture,
  JsonObject,
  ServiceConnection,
  ServiceWrite,
  SyncBatch,
  WriteFile,
} from '@gatehouse/server/ports/service-adapter'
import type { MailAccount } from '@gatehouse/server/proxy/adapters/mail/mail-account'
import { createMailAdapter } from '@gatehouse/server/proxy/adapters/mail/mail-adapter'
import { openMemory } from '@gatehouse/server/storage/memory/open'
import { HandClock } from '@gatehouse/testkit'
import type { Dovecot } from '@gatehouse/testkit/mail-server/dovecot'
import type { StoredMail } from '@gatehouse/testkit/mail-server/maildir'
import type { SmtpReceiver } from '@gatehouse/testkit/mail-server/smtp-receiver'
import { ImapFlow } from 'imapflow'

export const never = new AbortController().signal

/** Short, so that a test of a server that hangs does not. */
export const quickTimeouts = { connectMs: 700, greetingMs: 700, idleMs: 900 }

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

export const connectionTo = (
  settings: JsonObject,
  password = 'password-of-ana',
): ServiceConnection => ({
  service: 'mail',
  settings,
  secrets: ['password'],
  secret: (_name, _host, work) => work(password),
  clock: new HandClock(),
  log: silent,
})

/** The adapter with a replica in memory: what the framework does with batches, in a few lines. */
export class MailRig implements AsyncDisposable {
  readonly adapter = createMailAdapter(quickTimeouts)
  readonly connection: ServiceConnection
  readonly account: MailAccount
  /** Where batches go; in memory unless a test says otherwise. */
  store: ReplicaStore
  readonly batches: SyncBatch[] = []
  cursor: string | null = null
  #run = 0

  private constructor(connection: ServiceConnection, account: MailAccount, replica: ReplicaStore) {
    this.connection = connection
    this.account = account
    this.store = replica
  }

  static async open(settings: JsonObject): Promise<MailRig> {
    const connection = connectionTo(settings)
    const account = await createMailAdapter(quickTimeouts).open(connection)
    return new MailRig(connection, account, (await openMemory()).replica)
  }

  get replica(): ReplicaStore {
    return this.store
  }

  /** One whole run, or as many batches of it as wanted. */
  async sync(batchesMax = Number.POSITIVE_INFINITY): Promise<number> {
    this.#run += 1
    const full = this.cursor === null
    let count = 0
    for await (const batch of this.adapter.sync(this.account, { cursor: this.cursor }, never)) {
      this.batches.push(batch)
      await this.replica.apply('mail', batch.changes, this.#run)
      if (batch.gone) await this.replica.dropOlder('mail', batch.gone, this.#run + 1, 1_000)
      if (batch.complete) await this.replica.dropOlder('mail', batch.complete, this.#run, 1_000)
      if (batch.cursor !== undefined) this.cursor = batch.cursor
      count += batch.changes.filter(({ kind }) => kind === 'put').length
      batchesMax -= 1
      if (batchesMax <= 0) return count
    }
    if (full) await this.replica.dropOlder('mail', null, this.#run, 1_000)
    return count
  }

  async list(collection: string) {
    const query = {
      collections: [collection],
      order: 'newest_first',
      limit: 1_000,
      offset: 0,
    } as const
    return (await this.replica.query('mail', query)).entries
  }

  operation(name: string) {
    const found = this.adapter.operations.find((one) => one.name === name)
    if (!found) throw new Error(`no operation ${name}`)
    return found
  }

  write(operation: string, args: JsonObject, files: readonly WriteFile[] = []): ServiceWrite {
    return { id: `wr-${operation}`, operation, agent: 'alpha', arguments: args, files }
  }

  async capture(write: ServiceWrite): Promise<Capture> {
    const found = await this.operation(write.operation).capture(this.account, write, never)
    if ('kind' in found) throw new Error(found.reason.detail)
    return found
  }

  execute(write: ServiceWrite, capture: Capture) {
    return this.operation(write.operation).execute(this.account, write, capture, never)
  }

  prove(write: ServiceWrite, capture: Capture) {
    return this.operation(write.operation).prove(this.account, write, capture, never)
  }

  undo(write: ServiceWrite, capture: Capture, result: JsonObject | null = null) {
    return this.operation(write.operation).undo(this.account, { write, capture, result }, never)
  }

  planUndo(write: ServiceWrite, capture: Capture, result: JsonObject | null = null) {
    return this.operation(write.operation).planUndo(this.account, { write, capture, result }, never)
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

  async [Symbol.asyncDispose](): Promise<void> {
    await this.account[Symbol.asyncDispose]()
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

/** What lies in a folder, without the names that a server gives. */
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
