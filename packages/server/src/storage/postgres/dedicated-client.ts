import type pg from 'pg'
import { FifoMutex } from '../mutex.ts'
import { BoundedClient, bounded } from './bounded-client.ts'
import { applySettings, types } from './dialect.ts'

/** One connection for one kind of work, one piece at a time, made again after it broke. */
export class DedicatedClient implements AsyncDisposable {
  readonly #url: string
  readonly #settings: string
  readonly #answerMs: number | undefined
  readonly #mutex = new FifoMutex()
  #client: pg.Client | null = null
  #closed = false

  constructor(
    url: string,
    { settings = '', answerMs }: { settings?: string; answerMs?: number | undefined } = {},
  ) {
    this.#url = url
    this.#settings = settings
    this.#answerMs = answerMs
  }

  run<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
    return this.#mutex.run(async () => work(this.#client ?? (await this.#connect())))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#mutex.run(async () => {
      this.#closed = true
      const client = this.#client
      this.#client = null
      await client?.end()
    })
  }

  async #connect(): Promise<pg.Client> {
    if (this.#closed) throw new Error('The store is closed.')
    const client = new BoundedClient({ ...bounded(this.#url, this.#answerMs), types })
    // The next piece of work makes a new one.
    const forget = () => {
      if (this.#client === client) this.#client = null
    }
    client.on('error', forget)
    client.on('end', forget)
    await client.connect()
    await applySettings(client)
    if (this.#settings) await client.query(this.#settings)
    this.#client = client
    return client
  }
}
