import { GatehouseError } from '@gatehouse/contract'
import type { StoredAgent } from '../../ports/agents.ts'
import type { Capability } from '../../ports/capability.ts'
import type { Workspaces } from '../../ports/workspaces.ts'

export type PlacementDeps = {
  readonly workspaces: Pick<Workspaces, 'site'>
  /** Words on which node has that folder of workspaces now. */
  readonly whereIs: (site: string) => Promise<string>
  /** Whether it is another node, and runs. */
  readonly isOtherServing: (node: string) => Promise<boolean>
}

/** Call as far as its place goes. */
type Placed = {
  readonly agent: Pick<StoredAgent, 'name' | 'site'>
  readonly capability: Pick<Capability, 'performer' | 'paths'>
  readonly args: Readonly<Record<string, unknown>>
}

/** On which node the folders of an agent are, where nodes do not all see the same ones. */
export class Placement {
  readonly #deps: PlacementDeps

  constructor(deps: PlacementDeps) {
    this.#deps = deps
  }

  isAway({ site }: Pick<StoredAgent, 'site'>): boolean {
    const own = this.#deps.workspaces.site
    return own !== null && site !== null && site !== own
  }

  /** Whether the call reaches into folders that are on another node. A client's own tools work where the client is. */
  callIsAway({ agent, capability, args }: Placed): boolean {
    return (
      this.isAway(agent) &&
      capability.performer === 'service' &&
      capability.paths.some((name) => args[name] !== undefined)
    )
  }

  /** Raises `WorkspaceElsewhere`. */
  async assertHere(call: Placed): Promise<void> {
    if (this.callIsAway(call)) throw await this.refusal(call.agent)
  }

  /** Whether the node of which a call binds what is there is another one, and runs. */
  async isBoundElsewhere(node: string | undefined): Promise<boolean> {
    return node !== undefined && (await this.#deps.isOtherServing(node))
  }

  async refusal({ name, site }: Pick<StoredAgent, 'name' | 'site'>): Promise<GatehouseError> {
    const detail = await this.#deps.whereIs(site ?? '')
    return new GatehouseError('WorkspaceElsewhere', { agent: name, detail })
  }
}
