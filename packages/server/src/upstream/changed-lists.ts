import { setTimeout as sleep } from 'node:timers/promises'
import { type Client, type McpSubscription, ProtocolError } from '@modelcontextprotocol/client'
import type { ServerList } from '../ports/upstream.ts'

const lists: readonly ServerList[] = ['tools', 'prompts', 'resources']
const firstPauseMs = 250
const pauseMsMax = 60_000
/** A stream that lasted so long was no vain attempt. */
const steadyMs = 10_000

type Attempt = McpSubscription | 'failed' | 'refused'

/** Lists of one server that change. In 2026-07-28 it tells of them on a stream, which is opened again whenever it ends. */
export class ChangedLists {
  readonly #client: Client
  readonly #timeoutMs: number
  readonly #listeners = new Set<(list: ServerList) => void>()
  readonly #over = new AbortController()

  constructor(client: Client, timeoutMs: number) {
    this.#client = client
    this.#timeoutMs = timeoutMs
    for (const list of lists)
      client.setNotificationHandler(`notifications/${list}/list_changed`, () => this.#changed(list))
  }

  /** Lists of which the server says that it tells. */
  get told(): readonly ServerList[] {
    const offers = this.#client.getServerCapabilities() ?? {}
    return lists.filter((list) => offers[list]?.listChanged === true)
  }

  onChange(listener: (list: ServerList) => void): void {
    this.#listeners.add(listener)
  }

  /** After a while in which the server may have said something. */
  changedAll(): void {
    for (const list of this.told) this.#changed(list)
  }

  #changed(list: ServerList): void {
    for (const listener of this.#listeners) listener(list)
  }

  /** Resolves when the first attempt is made: a server that tells nothing is used without. */
  async open(): Promise<void> {
    const first = await this.#listen()
    if (first !== 'refused') void this.#keep(first)
  }

  close(): void {
    this.#over.abort()
  }

  async #keep(first: McpSubscription | 'failed'): Promise<void> {
    const { signal } = this.#over
    let stream: Attempt = first
    for (let vain = 0; stream !== 'refused'; vain += 1) {
      const openedMs = performance.now()
      if (stream !== 'failed') await stream.closed
      if (performance.now() - openedMs >= steadyMs) vain = 0
      const pauseMs = Math.min(pauseMsMax, firstPauseMs * 2 ** vain)
      await sleep(pauseMs, undefined, { signal, ref: false }).catch(() => {})
      if (signal.aborted) return
      stream = await this.#listen()
      if (typeof stream !== 'string') this.changedAll()
    }
  }

  async #listen(): Promise<Attempt> {
    const asked = Object.fromEntries(this.told.map((list) => [`${list}ListChanged`, true]))
    if (Object.keys(asked).length === 0) return 'refused'
    try {
      const stream = await this.#client.listen(asked, { timeout: this.#timeoutMs })
      return Object.keys(stream.honoredFilter).length === 0 ? 'refused' : stream
    } catch (cause) {
      return cause instanceof ProtocolError ? 'refused' : 'failed'
    }
  }
}
