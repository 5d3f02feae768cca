import { randomUUID } from 'node:crypto'
import type pg from 'pg'
import type { ChangedKind } from '../../ports/storage.ts'
import { BoundedClient, bounded } from './bounded-client.ts'

const channel = 'gatehouse_changes'
/** @NOTE Within a transaction, a message would hold up every other commit that has one: it follows the commit. */
const tellEveryMs = 25
const againAfterMs = 1_000
/** Nothing else is ever sent on this connection, so that one which a network dropped would look like one that is quiet. */
const hearEveryMs = 20_000

/**
 * Tells other nodes what this one changed, and hears it of them. Messages may be lost, as while a connection is made
 * again; after that everybody looks.
 */
export class ChangeFeed implements AsyncDisposable {
  readonly #url: string
  readonly #answerMs: number | undefined
  readonly #notify: (channel: string, text: string) => Promise<unknown>
  readonly #own = randomUUID()
  readonly #listeners = new Map<ChangedKind, Set<() => void>>()
  #waiting = new Set<ChangedKind>()
  #telling: NodeJS.Timeout | null = null
  #again: NodeJS.Timeout | null = null
  #hearing: NodeJS.Timeout | null = null
  #client: pg.Client | null = null
  #closed = false

  constructor(given: {
    readonly url: string
    readonly answerMs: number | undefined
    readonly notify: (channel: string, text: string) => Promise<unknown>
  }) {
    this.#url = given.url
    this.#answerMs = given.answerMs
    this.#notify = given.notify
  }

  /** Begins to listen; a database that cannot be reached is tried again. */
  async open(): Promise<void> {
    const client = new BoundedClient(bounded(this.#url, this.#answerMs))
    this.#client = client
    const lost = () => {
      if (this.#client !== client) return
      this.#client = null
      if (this.#hearing) clearInterval(this.#hearing)
      client.end().catch(() => undefined)
      if (!this.#closed) this.#again = setTimeout(() => void this.#reopen(), againAfterMs).unref()
    }
    client.on('error', lost)
    client.on('end', lost)
    client.on('notification', ({ payload = '' }) => this.#heard(payload))
    try {
      await client.connect()
      await client.query(`listen ${channel}`)
      // The connection may have broken or been closed meanwhile.
      if (this.#client !== client) return
      this.#hearing = setInterval(
        () => void client.query('select 1').catch(lost),
        hearEveryMs,
      ).unref()
    } catch {
      lost()
    }
  }

  /** After a commit: rows of this kind are others now. */
  tell(kind: ChangedKind): void {
    this.#waiting.add(kind)
    if (this.#closed) return
    this.#telling ??= setTimeout(() => {
      const told = [...this.#waiting].join(' ')
      this.#telling = null
      this.#waiting = new Set()
      // A node that does not hear of it finds it at the next look.
      this.#notify(channel, `${this.#own} ${told}`).catch(() => undefined)
    }, tellEveryMs).unref()
  }

  on(kind: ChangedKind, listener: () => void): Disposable {
    const own = () => listener()
    const listeners = this.#listeners.get(kind) ?? new Set()
    this.#listeners.set(kind, listeners.add(own))
    return { [Symbol.dispose]: () => void listeners.delete(own) }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true
    if (this.#telling) clearTimeout(this.#telling)
    if (this.#again) clearTimeout(this.#again)
    if (this.#hearing) clearInterval(this.#hearing)
    const client = this.#client
    this.#client = null
    await client?.end()
  }

  async #reopen(): Promise<void> {
    await this.open()
    if (this.#client) for (const kind of this.#listeners.keys()) this.#call(kind)
  }

  #heard(payload: string): void {
    const [sender, ...told] = payload.split(' ')
    if (sender === this.#own) return
    for (const kind of told) this.#call(kind as ChangedKind)
  }

  #call(kind: ChangedKind): void {
    for (const listener of [...(this.#listeners.get(kind) ?? [])]) listener()
  }
}
