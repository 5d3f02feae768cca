import { HandClock, silent } from '@gatehouse/server/log/testing'
import type { JsonObject } from '@gatehouse/server/ports/json'
import type { ReplicaQuery, ReplicaStore } from '@gatehouse/server/ports/replica'
import type {
  Capture,
  CaptureRefusal,
  ServiceAdapter,
  ServiceConnection,
  ServiceWrite,
  WriteFile,
} from '@gatehouse/server/ports/service-adapter'
import type { Storage } from '@gatehouse/server/ports/storage'
import { openQuickStore } from '@gatehouse/testkit/quick-store'

export const never = new AbortController().signal

/**
 * What `work` does with a server that is silent on purpose. Everywhere else a test has the timeouts of the product: on a
 * busy machine a server that is well takes its time, too.
 */
export const withQuick = async <T extends object, R>(
  timeouts: T,
  quick: T,
  work: () => Promise<R>,
): Promise<R> => {
  const usual = { ...timeouts }
  Object.assign(timeouts, quick)
  try {
    return await work()
  } finally {
    Object.assign(timeouts, usual)
  }
}

export const connectionOf = (
  service: string,
  settings: JsonObject,
  password = 'password-of-ana',
): ServiceConnection => ({
  service,
  settings,
  secrets: ['password'],
  secret: (_name, _host, work) => work(password),
  clock: new HandClock(),
  log: silent,
})

type Opened<C extends AsyncDisposable> = {
  readonly adapter: ServiceAdapter<C>
  readonly account: C
  readonly storage: Storage
}

/** An adapter with a replica of its own: what the framework does with batches, in a few lines. */
export abstract class AdapterRig<C extends AsyncDisposable> implements AsyncDisposable {
  readonly adapter: ServiceAdapter<C>
  readonly account: C
  readonly #storage: Storage
  /** Where batches go; the store unless a test says otherwise. */
  replica: ReplicaStore
  cursor: string | null = null
  #run = 0
  /** Whether a run that reads everything has not ended yet. */
  #full = false
  abstract readonly order: ReplicaQuery['order']

  constructor({ adapter, account, storage }: Opened<C>) {
    this.adapter = adapter
    this.account = account
    this.#storage = storage
    this.replica = storage.replica
  }

  protected static async opened<C extends AsyncDisposable>(
    adapter: ServiceAdapter<C>,
    settings: JsonObject,
  ): Promise<Opened<C>> {
    const account = await adapter.open(connectionOf(adapter.kind, settings))
    return { adapter, account, storage: await openQuickStore() }
  }

  /** One whole run, or as many batches of it as wanted; returns how many entries it brought. */
  async sync(batchesMax = Number.POSITIVE_INFINITY): Promise<number> {
    const { kind } = this.adapter
    // As the framework: a run that reads everything and was cut off goes on under its number.
    const full = this.#full || this.cursor === null
    if (!this.#full) this.#run += 1
    this.#full = full
    let count = 0
    for await (const batch of this.adapter.sync(this.account, { cursor: this.cursor }, never)) {
      await this.replica.apply(kind, batch.changes, this.#run)
      if (batch.gone) await this.replica.dropOlder(kind, batch.gone, this.#run + 1, 1_000)
      if (batch.complete) await this.replica.dropOlder(kind, batch.complete, this.#run, 1_000)
      if (batch.cursor !== undefined) this.cursor = batch.cursor
      count += batch.changes.filter((change) => change.kind === 'put').length
      batchesMax -= 1
      if (batchesMax <= 0) return count
    }
    if (full) await this.replica.dropOlder(kind, null, this.#run, 1_000)
    this.#full = false
    return count
  }

  async list(collection: string) {
    const query = { collections: [collection], order: this.order, limit: 1_000, offset: 0 }
    return (await this.replica.query(this.adapter.kind, query)).entries
  }

  operation(name: string) {
    const found = this.adapter.operations.find((one) => one.name === name)
    if (!found) throw new Error(`no operation ${name}`)
    return found
  }

  write(operation: string, args: JsonObject, files: readonly WriteFile[] = []): ServiceWrite {
    return { id: `wr-${operation}`, operation, agent: 'alpha', arguments: args, files }
  }

  look(write: ServiceWrite): Promise<Capture | CaptureRefusal> {
    return this.operation(write.operation).capture(this.account, write, never)
  }

  async capture(write: ServiceWrite): Promise<Capture> {
    const found = await this.look(write)
    if ('kind' in found) throw new Error(found.reason.detail)
    return JSON.parse(JSON.stringify(found)) as Capture
  }

  execute(
    write: ServiceWrite,
    capture: Capture,
    executed: (result: JsonObject) => void = () => {},
  ) {
    return this.operation(write.operation).execute(this.account, write, capture, never, executed)
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

  async [Symbol.asyncDispose](): Promise<void> {
    await this.account[Symbol.asyncDispose]()
    await this.#storage[Symbol.asyncDispose]()
  }
}
