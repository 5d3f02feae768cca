import type { EventBus } from '../ports/events.ts'
import type { PolicySource } from '../ports/policy.ts'
import { type ListDeps, listFor } from './list-capabilities.ts'

/**
 * Tells an agent that its tools changed, when a new policy really changes what it may use. Only agents
 * that listen are looked at.
 */
export class ToolChanges implements Disposable {
  readonly #deps: ListDeps & { readonly events: EventBus; readonly policy: PolicySource }
  readonly #listening = new Map<string, { listeners: number; signature: string }>()
  readonly #watching: Disposable

  constructor(deps: ListDeps & { readonly events: EventBus; readonly policy: PolicySource }) {
    this.#deps = deps
    this.#watching = deps.policy.onChange(() => void this.#compare())
  }

  async listen(agent: string): Promise<void> {
    const known = this.#listening.get(agent)
    if (known) known.listeners += 1
    else this.#listening.set(agent, { listeners: 1, signature: await this.#signature(agent) })
  }

  leave(agent: string): void {
    const known = this.#listening.get(agent)
    if (!known) return
    known.listeners -= 1
    if (known.listeners <= 0) this.#listening.delete(agent)
  }

  async #signature(name: string): Promise<string> {
    const agent = await this.#deps.directory.find(name)
    if (!agent) return ''
    return listFor(this.#deps, agent, null)
      .map(({ capability, tier }) => `${capability.name}=${tier}`)
      .join(',')
  }

  async #compare(): Promise<void> {
    for (const [agent, known] of this.#listening) {
      const signature = await this.#signature(agent)
      if (signature === known.signature) continue
      known.signature = signature
      this.#deps.events.publish({ type: 'tools.changed', agent, data: {} })
    }
  }

  [Symbol.dispose](): void {
    this.#watching[Symbol.dispose]()
  }
}
