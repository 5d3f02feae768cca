import type { EventBus } from '../../ports/events.ts'
import type { Log } from '../../ports/log.ts'
import { type ListDeps, listFor } from '../gate/list-capabilities.ts'

type Listening = { listeners: number; signature: Promise<string> }
type Deps = ListDeps & { readonly events: EventBus; readonly log: Log }

/**
 * Tells an agent that its tools changed, when a new policy, a new definition, its tool set or something that was
 * connected really changes what it may use. Only agents that listen are looked at.
 */
export class ToolChanges implements Disposable {
  readonly #deps: Deps
  readonly #listening = new Map<string, Listening>()
  readonly #watching: readonly Disposable[]
  #reach: string | null = null
  #turn: Promise<void> = Promise.resolve()

  constructor(deps: Deps) {
    this.#deps = deps
    this.#watching = [
      deps.policy.onChange(() => void this.#compare()),
      deps.registry.onChange(() => void this.#compare()),
      deps.directory.onChange((agent) => void this.#compare(agent)),
    ]
  }

  listen(agent: string): void {
    const known = this.#listening.get(agent)
    if (known) known.listeners += 1
    else this.#listening.set(agent, { listeners: 1, signature: this.#signature(agent) })
  }

  leave(agent: string): void {
    const known = this.#listening.get(agent)
    if (!known) return
    known.listeners -= 1
    if (known.listeners <= 0) this.#listening.delete(agent)
  }

  /** Looks whether something was connected or taken away since the last look. */
  async look(): Promise<void> {
    if (this.#listening.size === 0) return
    const reach = await this.#deps.availability.signature()
    if (reach === this.#reach) return
    this.#reach = reach
    await this.#compare()
  }

  /**
   * By policy and capabilities as they are now, so that a change while it is read is one.
   * A listing that cannot be read counts as a change: to list once more costs less than to miss one.
   */
  async #signature(name: string): Promise<string> {
    const { availability, clock, directory, settings } = this.#deps
    const [capabilities, rules] = [this.#deps.registry.list(), this.#deps.policy.current()]
    const registry = { list: () => capabilities }
    const policy = { current: () => rules }
    const deps = { availability, clock, registry, policy, settings }
    try {
      const agent = await directory.find(name)
      if (!agent) return ''
      return (await listFor(deps, agent, null))
        .map(({ capability, tier }) => `${capability.definition_hash}=${tier}`)
        .join(',')
    } catch (cause) {
      this.#deps.log.warn({ err: cause, agent: name }, 'the tools of an agent could not be read')
      return ''
    }
  }

  /** One after the other: what is told of once is not told of again. */
  #compare(only?: string): Promise<void> {
    this.#turn = this.#turn.then(() => this.#compareEach(only))
    return this.#turn
  }

  async #compareEach(only: string | undefined): Promise<void> {
    for (const [agent, known] of this.#listening) {
      if (only !== undefined && agent !== only) continue
      const before = await known.signature
      const signature = await this.#signature(agent)
      if (signature === before) continue
      known.signature = Promise.resolve(signature)
      this.#deps.events.publish({ type: 'tools.changed', agent, data: {} })
    }
  }

  [Symbol.dispose](): void {
    for (const watching of this.#watching) watching[Symbol.dispose]()
  }
}
