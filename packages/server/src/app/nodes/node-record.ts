import { LogFinding, type NodeList, type ServerNode, shellWord } from '@gatehouse/contract'
import { acknowledgeStep } from '../../domain/audit/acknowledge-step.ts'
import { standingOf } from '../../domain/nodes.ts'
import { parseStored } from '../../domain/parse-stored.ts'
import type { StoredNode } from '../../ports/nodes.ts'
import type { SignedLink } from './node-link.ts'

/** Facts that a node reports about what it runs. */
export type NodeFacts = Pick<ServerNode, 'policy_version' | 'sessions' | 'processes' | 'site'> & {
  readonly log_finding: LogFinding | null
  /** Mark that the node put into its folder of workspaces, and those of other nodes that it sees there. */
  readonly site_mark: string | null
  /** Where that folder lies. */
  readonly site_path: string | null
  readonly sees_marks: readonly string[]
  /** Null where it has no links. */
  readonly link: SignedLink | null
}

const idle = { policy_version: null, sessions: 0, processes: 0 }
const none: NodeFacts = {
  ...{ ...idle, log_finding: null },
  ...{ site: null, site_mark: null, site_path: null, sees_marks: [], link: null },
}

/** One that is of another version may say more or less. */
export const factsIn = ({ facts_json }: StoredNode): NodeFacts => {
  const facts = { ...none, ...parseStored<Partial<NodeFacts>>(facts_json, 'nodes.facts_json') }
  const { policy_version, sessions, processes, site, site_mark, site_path, sees_marks, link } =
    facts
  const log_finding = LogFinding.safeParse(facts.log_finding).data ?? null
  return {
    policy_version,
    sessions,
    processes,
    log_finding,
    site,
    site_mark,
    site_path,
    sees_marks,
    link,
  }
}

const iso = (ms: number): string => new Date(ms).toISOString()

/** Remedy of what another node found in the audit log. The command names the data directory, as it is for that machine. */
export const remedyAt = (
  { name, place }: Pick<StoredNode, 'name' | 'place'>,
  status: ServerNode['status'],
): string =>
  status === 'missing' || status === 'stopped'
    ? `start ${name} again and acknowledge it there; if it will not come back, run: gatehouse nodes forget ${name}`
    : `once the cause is known, on ${name}, run: gatehouse audit acknowledge --reason TEXT --data-dir ${shellWord(place.slice(place.indexOf(':') + 1))}`

/** A node as people see it. One that does not run runs nothing. */
export const nodeRecord = (
  node: StoredNode,
  nowMs: number,
  answering: string,
  unreachable: string | null,
): ServerNode => {
  const { name, place, address, version } = node
  const status = standingOf(node, nowMs)
  const runs = status === 'active' || status === 'draining'
  const { policy_version, sessions, processes, log_finding, site } = factsIn(node)
  return {
    ...{ name, place, version, status, address: runs ? address : null },
    answering: name === answering,
    started_at: iso(node.started_ms),
    seen_at: iso(node.seen_ms),
    ...(runs ? { policy_version, sessions, processes } : idle),
    log_finding: log_finding && {
      ...log_finding,
      remedy: name === answering ? acknowledgeStep : remedyAt(node, status),
    },
    ...{ site, unreachable: runs ? unreachable : null },
  }
}

/** Whether nodes with these folders of workspaces see one, or each has its own. */
export const workspacesOf = (sites: readonly (string | null)[]): NodeList['workspaces'] => {
  if (sites.length < 2) return 'one'
  return new Set(sites).size === 1 && sites[0] !== null ? 'shared' : 'separate'
}
