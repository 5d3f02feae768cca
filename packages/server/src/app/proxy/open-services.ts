import { GatehouseError } from '@gatehouse/contract'
import { parseStored } from '../../domain/parse-stored.ts'
import type { Clock } from '../../ports/clock.ts'
import type { JsonObject } from '../../ports/json.ts'
import type { Log } from '../../ports/log.ts'
import type { Secrets } from '../../ports/secrets.ts'
import type {
  ServiceAdapter,
  ServiceAdapters,
  ServiceConnection,
} from '../../ports/service-adapter.ts'
import type { StoredService } from '../../ports/services.ts'

const idleMs = 60_000

type Deps = {
  readonly adapters: ServiceAdapters
  readonly secrets: Pick<Secrets, 'use' | 'scrub'>
  readonly clock: Clock
  readonly log: Log
}
type Opened = {
  readonly generation: number
  readonly service: Promise<AsyncDisposable>
  users: number
  idle: Disposable | null
  dropped: boolean
}

/** The name under which the vault keeps a credential of a service. */
export const secretName = (service: string, field: string): string => `${service}.${field}`

/** Credentials of a service: those given first, the vault's otherwise. */
export const connectionOf = (
  { secrets, clock, log }: Deps,
  service: Pick<StoredService, 'name' | 'settings_json' | 'secrets'>,
  given: Readonly<Record<string, string>> = {},
): ServiceConnection => ({
  service: service.name,
  settings: parseStored<JsonObject>(service.settings_json, 'services.settings_json'),
  secrets: [...new Set([...service.secrets, ...Object.keys(given)])],
  secret(field, host, work) {
    const value = given[field]
    if (value !== undefined) return work(value)
    const capability = `service:${service.name}`
    const name = `service:${secretName(service.name, field)}`
    return secrets.use({ name, agent: null, capability, host }, work)
  },
  clock,
  log,
})

/** Open adapters: used by all, opened anew after a failure, closed when nobody needs them. */
export class OpenServices implements AsyncDisposable {
  readonly #deps: Deps
  readonly #opened = new Map<string, Opened>()
  readonly #closing = new Set<Promise<void>>()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  adapterOf(kind: string): ServiceAdapter {
    const adapter = this.#deps.adapters.get(kind)
    if (!adapter) throw new GatehouseError('ServiceKindNotFound', { kind })
    return adapter
  }

  /** Calls the work with what is open. What throws may have broken it, so the next caller opens anew. */
  async use<T>(
    service: StoredService,
    work: (adapter: ServiceAdapter, opened: AsyncDisposable) => Promise<T>,
  ): Promise<T> {
    const hold = this.hold(service)
    try {
      return await work(hold.adapter, await hold.opened)
    } catch (cause) {
      hold.broken()
      throw cause
    } finally {
      hold.release()
    }
  }

  /** Keeps it open until it is released, for what goes on after a call has returned. */
  hold(service: StoredService): {
    readonly adapter: ServiceAdapter
    readonly opened: Promise<AsyncDisposable>
    broken(): void
    release(): void
  } {
    const adapter = this.adapterOf(service.kind)
    const held = this.#take(service, adapter)
    held.users += 1
    held.idle?.[Symbol.dispose]()
    held.idle = null
    return {
      adapter,
      opened: held.service,
      broken: () => this.#drop(service.name, held),
      release: () => {
        held.users -= 1
        if (held.users === 0) this.#rest(service.name, held)
      },
    }
  }

  /** Closes a service whose settings or credentials have changed or are gone. */
  forget(name: string): void {
    const held = this.#opened.get(name)
    if (held) this.#drop(name, held)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const [name, held] of [...this.#opened]) {
      this.#drop(name, held)
      if (held.users > 0) this.#close(name, held)
    }
    await Promise.all(this.#closing)
  }

  #take(service: StoredService, adapter: ServiceAdapter): Opened {
    const known = this.#opened.get(service.name)
    if (known?.generation === service.generation) return known
    if (known) this.#drop(service.name, known)
    const held: Opened = {
      generation: service.generation,
      service: adapter.open(connectionOf(this.#deps, service)),
      users: 0,
      idle: null,
      dropped: false,
    }
    this.#opened.set(service.name, held)
    return held
  }

  #rest(name: string, held: Opened): void {
    if (held.dropped) return this.#close(name, held)
    held.idle = this.#deps.clock.after(idleMs, () => this.#drop(name, held))
  }

  #drop(name: string, held: Opened): void {
    if (held.dropped) return
    held.dropped = true
    held.idle?.[Symbol.dispose]()
    if (this.#opened.get(name) === held) this.#opened.delete(name)
    if (held.users === 0) this.#close(name, held)
  }

  #close(name: string, held: Opened): void {
    const closing = held.service
      .then((service) => service[Symbol.asyncDispose]())
      .catch((cause: unknown) => {
        this.#deps.log.debug({ err: cause, service: name }, 'closing a service failed')
      })
      .finally(() => this.#closing.delete(closing))
    this.#closing.add(closing)
  }
}
