import { GatehouseError } from '@gatehouse/contract'
import type { StoredAgent } from '../../ports/agents.ts'
import type { Capability } from '../../ports/capability.ts'
import type { Workspaces } from '../../ports/workspaces.ts'

export type PlacementDeps = {
  readonly workspaces: Pick<Workspaces, 'site' | 'holds'>
  /** Words on which node has that folder of workspaces now. */
  readonly whereIs: (site: string) => Promise<string>
  /** Words on why a workspace is not here that should be. */
  readonly whyMissing: (agent: Pick<StoredAgent, 'name' | 'site'>) => Promise<string>
  /** Whether it is another node, and runs, and has that folder of workspaces where one is given. */
  readonly isOtherServing: (node: string, site: string | null) => Promise<boolean>
}

/** Call as far as its place goes. */
type Placed = {
  readonly agent: Pick<StoredAgent, 'name' | 'site'>
  readonly capability: Pick<Capability, 'performer' | 'paths'>
  readonly args: Readonly<Record<string, unknown>>
}

/** Whether a call reaches into folders of its agent. */
const reaches = ({ capability, args }: Placed): boolean =>
  capability.performer === 'service' && capability.paths.some((name) => args[name] !== undefined)

/** On which node the folders of an agent are, where nodes do not all see the same ones. */
export class Placement {
  readonly #deps: PlacementDeps
  readonly #standing = new WeakSet<object>()

  constructor(deps: PlacementDeps) {
    this.#deps = deps
  }

  /**
   * Whether the workspace is not here.
   * @SECURITY One that is still on its way here is never made empty in its place; move-agent.test.ts.
   */
  isAway(agent: Pick<StoredAgent, 'name' | 'site'>): boolean {
    const own = this.#deps.workspaces.site
    if (own === null || agent.site === null) return false
    return agent.site !== own || !this.#stands(agent)
  }

  /** Looked at once for each record: whatever moves a workspace changes the record, too. */
  #stands(agent: Pick<StoredAgent, 'name'>): boolean {
    if (this.#standing.has(agent)) return true
    if (!this.#deps.workspaces.holds(agent.name)) return false
    this.#standing.add(agent)
    return true
  }

  /** Whether the call reaches into folders that are not here. A client's own tools work where the client is. */
  callIsAway(call: Placed): boolean {
    return this.isAway(call.agent) && reaches(call)
  }

  /** Raises `WorkspaceElsewhere`. */
  async assertHere(call: Placed): Promise<void> {
    if (this.callIsAway(call)) throw await this.refusal(call.agent)
  }

  /** Whether the node of which a call binds what is there is another one, runs, and still has the folders that it reaches into. */
  async isBoundElsewhere(node: string | undefined, call: Placed): Promise<boolean> {
    const site = reaches(call) ? call.agent.site : null
    return node !== undefined && (await this.#deps.isOtherServing(node, site))
  }

  async refusal(agent: Pick<StoredAgent, 'name' | 'site'>): Promise<GatehouseError> {
    const { name, site } = agent
    const { workspaces, whyMissing, whereIs } = this.#deps
    const isMissing = site === workspaces.site
    const detail = isMissing ? await whyMissing(agent) : await whereIs(site ?? '')
    return new GatehouseError('WorkspaceElsewhere', { agent: name, detail })
  }
}
