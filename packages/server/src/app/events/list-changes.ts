import type { EventBus } from '../../ports/events.ts'
import type { Log } from '../../ports/log.ts'
import type { ChangedList, ServerList } from '../../ports/upstream.ts'
import type { ListedCapability } from '../call/invoke.ts'
import { type ListDeps, listFor } from '../gate/list-capabilities.ts'
import { featureLists, listersOf } from '../upstreams/features.ts'

const lists: readonly ServerList[] = ['tools', ...featureLists]

/** Facts that decide on what is in each list. */
type Signature = Readonly<Record<ServerList, string>>

type Listening = { listeners: number; signature: Promise<Signature> }
type Deps = ListDeps & { readonly events: EventBus; readonly log: Log }

const nothing: Signature = { tools: '', prompts: '', resources: '' }

const signatureOf = (listed: readonly ListedCapability[]): string =>
  listed.map(({ capability, tier }) => `${capability.definition_hash}=${tier}`).join(',')

/**
 * Tells an agent that its tools, prompts or resources changed, when a new policy, a new definition, its tool set or
 * something that was connected really changes what it may use, or a server says so of its own. Only agents that listen
 * are looked at.
 */
export class ListChanges implements Disposable {
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

  /** A server says it: told to those whose list has entries of the server. */
  changed(change: ChangedList): void {
    void this.#inTurn(() => this.#passOn(change))
  }

  async #passOn({ upstream, agent: only, list }: ChangedList): Promise<void> {
    for (const agent of this.#listening.keys()) {
      if (only !== null && agent !== only) continue
      const listers = listersOf(await this.#listed(agent), list)
      if (listers.some(({ capability }) => capability.group === upstream)) this.#tell(agent, list)
    }
  }

  /**
   * By policy and capabilities as they are now, so that a change while it is read is one.
   * A listing that cannot be read counts as a change: to list once more costs less than to miss one.
   */
  async #signature(name: string): Promise<Signature> {
    const listed = await this.#listed(name)
    if (listed.length === 0) return nothing
    return {
      tools: signatureOf(listed),
      prompts: signatureOf(listersOf(listed, 'prompts')),
      resources: signatureOf(listersOf(listed, 'resources')),
    }
  }

  async #listed(name: string): Promise<readonly ListedCapability[]> {
    const { availability, clock, directory, settings } = this.#deps
    const [capabilities, rules] = [this.#deps.registry.list(), this.#deps.policy.current()]
    const registry = { list: () => capabilities }
    const policy = { current: () => rules }
    const deps = { availability, clock, registry, policy, settings }
    try {
      const agent = await directory.find(name)
      return agent ? await listFor(deps, agent, null) : []
    } catch (cause) {
      this.#deps.log.warn({ err: cause, agent: name }, 'the tools of an agent could not be read')
      return []
    }
  }

  /** One after the other: what is told of once is not told of again. */
  #inTurn(work: () => Promise<void>): Promise<void> {
    this.#turn = this.#turn.then(work)
    return this.#turn
  }

  #compare(only?: string): Promise<void> {
    return this.#inTurn(() => this.#compareEach(only))
  }

  async #compareEach(only: string | undefined): Promise<void> {
    for (const [agent, known] of this.#listening) {
      if (only !== undefined && agent !== only) continue
      const before = await known.signature
      const signature = await this.#signature(agent)
      known.signature = Promise.resolve(signature)
      for (const list of lists) if (signature[list] !== before[list]) this.#tell(agent, list)
    }
  }

  #tell(agent: string, list: ServerList): void {
    this.#deps.events.publish({ type: `${list}.changed`, agent, data: {} })
  }

  [Symbol.dispose](): void {
    for (const watching of this.#watching) watching[Symbol.dispose]()
  }
}
