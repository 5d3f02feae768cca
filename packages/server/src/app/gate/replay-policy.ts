import {
  type AuditEntry,
  GatehouseError,
  type PolicyProblem,
  type PolicyReplayLine,
  type ReplayedAgent,
  type RuleRef,
} from '@gatehouse/contract'
import { entryOf } from '../../domain/audit/entry.ts'
import { tierOf } from '../../domain/policy/tiers.ts'
import type { CompiledPolicy } from '../../domain/policy/types.ts'
import type { StoredAgent, StoredSession } from '../../ports/agents.ts'
import type { AuditReader } from '../../ports/audit.ts'
import type { Capability, CapabilityRegistry } from '../../ports/capability.ts'
import type { PolicyDraft, PolicyFiles } from '../../ports/policy.ts'
import type { Basics } from '../call/basics.ts'
import type { ContextFactory } from '../call/capability-context.ts'
import { decideCall } from '../call/decide-call.ts'
import type { Op } from '../call/op.ts'

export type ReplayDeps = Pick<Basics, 'clock' | 'storage'> & {
  readonly policy: PolicyFiles
  readonly registry: CapabilityRegistry
  readonly contexts: ContextFactory
  readonly audit: Pick<AuditReader, 'rows'>
}

export type ReplayInput = { readonly draft: PolicyDraft; readonly days: number }

export type Replay =
  | { readonly kind: 'refused'; readonly problems: readonly PolicyProblem[] }
  | { readonly kind: 'replays'; readonly lines: AsyncIterable<PolicyReplayLine> }

const dayMs = 86_400_000
const pageRows = 500
const examplesMax = 5
const sessionsMax = 10_000

/** Errors of calls that were refused without asking policy. */
const notPolicy: ReadonlySet<string> = new Set(['AgentPaused', 'OutsideToolSet'])

/** In the detail of an approved run, and of a request that a person made of another. */
const answered = ['execution', 'edited_from']

/** Whether the entry is the one that tells of the question to policy: each call has one such. */
const isQuestion = ({ kind, intent_id, policy_decision, approval_id, ...entry }: AuditEntry) =>
  kind === 'call' &&
  intent_id === null &&
  policy_decision !== 'none' &&
  !notPolicy.has(entry.error?.type ?? '') &&
  // The run of an approved request, and the delivery of its result, were asked about with the request.
  (approval_id === null ||
    (entry.result === 'pending' && !answered.some((name) => entry.detail?.[name] !== undefined)))

const isCut = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, '$cut')

/** Names of arguments that the log holds only in part, or as a keyed hash. */
const lostIn = (given: AuditEntry['arguments'], { argument_names, redact }: Capability) =>
  isCut(given)
    ? argument_names
    : Object.keys(given).filter((name) => redact.includes(name) || isCut(given[name]))

/** A condition on `host` reads one of these. */
const hostNames = ['url', 'host', 'hostname']

type Change = Pick<ReplayedAgent['changes'][number], 'capability' | 'from' | 'to'>
type Verdict =
  | { readonly kind: 'same' }
  | { readonly kind: 'cannot_say' }
  | ({ readonly kind: 'changed'; readonly rule: RuleRef | null } & Change)

const unknown: Verdict = { kind: 'cannot_say' }

/** Both policies about the calls of the log, as they would be asked now. */
class Comparison {
  readonly #deps: ReplayDeps
  readonly #agents: ReadonlyMap<string, StoredAgent>
  readonly #active: CompiledPolicy
  readonly #draft: CompiledPolicy
  readonly #sessions = new Map<string, StoredSession | null>()

  constructor(deps: ReplayDeps, agents: readonly StoredAgent[], draft: CompiledPolicy) {
    this.#deps = deps
    this.#agents = new Map(agents.map((agent) => [agent.name, agent]))
    this.#active = deps.policy.current()
    this.#draft = draft
  }

  async judge(entry: AuditEntry): Promise<Verdict> {
    const agent = this.#agents.get(entry.agent)
    const capability = this.#deps.registry.find(entry.capability)
    if (!agent || !capability || this.#hangsOnLost(entry, capability)) return unknown
    const asked = {
      // The agent was active when it called.
      agent: { ...agent, status: 'active' as const },
      session: await this.#sessionOf(entry.session_id),
      capability,
      args: entry.arguments,
      nowMs: Date.parse(entry.timestamp),
    }
    const from = tierOf(decideCall(this.#deps, this.#active, asked))
    const drafted = decideCall(this.#deps, this.#draft, asked)
    const to = tierOf(drafted)
    return from === to
      ? { kind: 'same' }
      : { kind: 'changed', capability: capability.name, from, to, rule: drafted.rule }
  }

  #hangsOnLost(entry: AuditEntry, capability: Capability): boolean {
    const lost = lostIn(entry.arguments, capability)
    if (capability.stands_for)
      return lost.length > 0 || capability.parse(entry.arguments).kind === 'invalid'
    // Even a condition that could read any argument reads none that is lost.
    if (lost.length === 0) return false
    return (
      lost.some((name) => hostNames.includes(name)) ||
      [this.#active, this.#draft].some((policy) =>
        policy.dependsOn(entry.agent, capability.name, lost),
      )
    )
  }

  async #sessionOf(id: string | null): Promise<StoredSession | null> {
    if (id === null) return null
    const known = this.#sessions.get(id)
    if (known !== undefined) return known
    if (this.#sessions.size >= sessionsMax) this.#sessions.clear()
    const found = await this.#deps.storage.sessions.find(id)
    this.#sessions.set(id, found)
    return found
  }
}

type Tally = {
  calls: number
  changed: number
  cannot_say: number
  readonly changes: Map<string, ReplayedAgent['changes'][number]>
}

const count = (tally: Tally, verdict: Verdict, id: string): void => {
  tally.calls += 1
  if (verdict.kind === 'same') return
  tally[verdict.kind] += 1
  if (verdict.kind === 'cannot_say') return
  const { capability, from, to, rule } = verdict
  const key = `${capability} ${from} ${to}`
  const known = tally.changes.get(key)
  const examples = known?.examples ?? []
  tally.changes.set(key, {
    ...{ capability, from, to },
    rule: known ? known.rule : rule,
    calls: (known?.calls ?? 0) + 1,
    examples: examples.length < examplesMax ? [...examples, id] : examples,
  })
}

const resultOf = (tallies: ReadonlyMap<string, Tally>, facts: { since: string; until: string }) => {
  const agents = [...tallies]
    .map(([agent, { changes, ...counts }]) => ({
      agent,
      ...counts,
      changes: [...changes.values()].toSorted((a, b) => b.calls - a.calls),
    }))
    .toSorted((a, b) => (a.agent < b.agent ? -1 : 1))
  const sum = (field: 'calls' | 'changed' | 'cannot_say') =>
    agents.reduce((total, agent) => total + agent[field], 0)
  return {
    kind: 'result' as const,
    ...facts,
    ...{ calls: sum('calls'), changed: sum('changed'), cannot_say: sum('cannot_say') },
    agents,
  }
}

async function* replay(
  { signal }: Op,
  deps: ReplayDeps,
  { draft, days }: ReplayInput,
  policy: CompiledPolicy,
): AsyncGenerator<PolicyReplayLine> {
  const nowMs = deps.clock.wall()
  // Entries from now on are not part of the replay, so that the pages do not shift. Exclusive.
  const until = new Date(nowMs + 1).toISOString()
  const since = new Date(nowMs - days * dayMs).toISOString()
  const comparison = new Comparison(deps, await deps.storage.agents.list(), policy)
  const tallies = new Map<string, Tally>()
  const filter = { since, until, limit: pageRows, ...(draft.agent ? { agent: draft.agent } : {}) }
  for (let done = 0; ; ) {
    const { rows, total } = await deps.audit.rows.query({ ...filter, offset: done })
    for (const row of rows) {
      const entry = entryOf(row)
      if (!isQuestion(entry)) continue
      const tally = tallies.get(entry.agent) ?? {
        ...{ calls: 0, changed: 0, cannot_say: 0 },
        changes: new Map(),
      }
      tallies.set(entry.agent, tally)
      count(tally, await comparison.judge(entry), entry.id)
    }
    done += rows.length
    if (signal.aborted) return
    yield { kind: 'progress', done, total: Math.max(done, total) }
    if (rows.length === 0 || done >= total) break
  }
  yield resultOf(tallies, { since, until })
}

const atOnceMax = 2

/** Replays are long: two at a time, whoever asks for them. */
export class Replays {
  #running = 0

  /**
   * Calls in the log that a draft would have decided otherwise than the active policy. A reader who stops reading
   * the lines ends it.
   */
  start(op: Op, deps: ReplayDeps, input: ReplayInput): Replay {
    const { policy, problems } = deps.policy.compile(input.draft)
    if (!policy) return { kind: 'refused', problems }
    return { kind: 'replays', lines: this.#counted(op, deps, input, policy) }
  }

  async *#counted(...given: Parameters<typeof replay>): AsyncGenerator<PolicyReplayLine> {
    if (this.#running >= atOnceMax)
      throw new GatehouseError('Conflict', {
        detail: `${atOnceMax} replays are under way; wait until one of them has ended.`,
      })
    this.#running += 1
    try {
      yield* replay(...given)
    } finally {
      this.#running -= 1
    }
  }
}
