import type { Certificate } from '@gatehouse/contract'
import type { PartHealth } from '../call/part.ts'

export type ListenerName = 'gateway' | 'dashboard' | 'user_api'

type Phase = 'none' | 'starting' | 'open' | 'stopping'

/** Listeners that this process means to open, and whether they are open. Without any it is a command, not a server. */
export class Listeners {
  /** Where people find the page, once it is served. */
  page: string | null = null
  /** The certificate that the page is served with. */
  certificate: () => Certificate | null = () => null
  /** Where agents reach this process, once it listens. */
  address: string | null = null
  /** Where other nodes reach this one, and the SHA-256 of the certificate that it shows them; null where it has no links. */
  link: { readonly url: string; readonly certificate: string } | null = null
  /** Ports of this process: nobody reaches them by way of the service itself. */
  readonly ports = new Set<number>()
  #phase: Phase = 'none'
  /** Name of this node while it takes nothing new. */
  #draining: string | null = null
  readonly #stops = new AbortController()
  readonly #expected = new Set<ListenerName>()
  readonly #looks = new Map<ListenerName, () => PartHealth>()

  /** Listeners through which this process will serve. */
  expect(...names: readonly ListenerName[]): void {
    this.#phase = 'starting'
    for (const name of names) this.#expected.add(name)
  }

  /** Reports that a listener is open; `look` says how it is from now on. */
  opened(name: ListenerName, look: () => PartHealth = () => ({ status: 'healthy' })): void {
    this.#expected.add(name)
    this.#looks.set(name, look)
  }

  ready(): void {
    this.#phase = 'open'
  }

  stopping(): void {
    this.#phase = 'stopping'
    this.#stops.abort()
  }

  /** Aborts when the listeners begin to close, before the calls under way are ended. */
  get stops(): AbortSignal {
    return this.#stops.signal
  }

  /** Why no calls should be sent here, or null. */
  notReady(): string | null {
    if (this.#phase === 'starting') return 'the service is starting'
    if (this.#phase === 'stopping') return 'the service is stopping'
    return this.#draining === null
      ? null
      : `the node is draining; to end that, run: gatehouse nodes resume ${this.#draining}`
  }

  /** Takes nothing new while this names the node, and goes on with what it does. */
  drain(node: string | null): void {
    this.#draining = node
  }

  get draining(): boolean {
    return this.#draining !== null
  }

  of(name: ListenerName): PartHealth {
    if (this.#phase === 'none') return { status: 'disabled', reason: 'no server runs' }
    if (!this.#expected.has(name)) return { status: 'disabled', reason: 'it is not configured' }
    const reason = this.notReady()
    if (reason) return { status: 'unhealthy', reason }
    return this.#looks.get(name)?.() ?? { status: 'unhealthy', reason: 'it does not listen' }
  }
}
