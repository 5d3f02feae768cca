import type { ServerNode } from '@gatehouse/contract'
import { standingOf } from '../../domain/nodes.ts'
import { parseStored } from '../../domain/parse-stored.ts'
import type { StoredNode } from '../../ports/nodes.ts'

/** Facts that a node reports about what it runs. */
export type NodeFacts = Pick<ServerNode, 'policy_version' | 'sessions' | 'processes'>

const none: NodeFacts = { policy_version: null, sessions: 0, processes: 0 }

/** One that is of another version may say more or less. */
export const factsIn = ({ facts_json }: StoredNode): NodeFacts => {
  const { policy_version, sessions, processes } = {
    ...none,
    ...parseStored<Partial<NodeFacts>>(facts_json, 'nodes.facts_json'),
  }
  return { policy_version, sessions, processes }
}

const iso = (ms: number): string => new Date(ms).toISOString()

/** A node as people see it. One that does not run runs nothing. */
export const nodeRecord = (node: StoredNode, nowMs: number, answering: string): ServerNode => {
  const { name, place, address, version } = node
  const status = standingOf(node, nowMs)
  const runs = status === 'active' || status === 'draining'
  return {
    ...{ name, place, version, status, address: runs ? address : null },
    answering: name === answering,
    started_at: iso(node.started_ms),
    seen_at: iso(node.seen_ms),
    ...(runs ? factsIn(node) : none),
  }
}
