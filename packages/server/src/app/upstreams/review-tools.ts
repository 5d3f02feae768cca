import {
  type AcceptUpstream,
  type DeclineUpstream,
  GatehouseError,
  type UpstreamReview,
} from '@gatehouse/contract'
import {
  type Accepted,
  acceptTools,
  type ComparedTool,
  declineTools,
  isOtherCertificate,
  type Seen,
} from '../../domain/upstream/pins.ts'
import { actDraft } from '../call/audit-draft.ts'
import type { Op } from '../call/op.ts'
import type { Connections } from './connections.ts'
import { reviewDigest, reviewOf } from './show-upstream.ts'
import { readRow, toRow, type UpstreamRecord } from './stored.ts'
import type { UpstreamDeps } from './upstream-deps.ts'

type Deps = UpstreamDeps & { readonly connections: Pick<Connections, 'end'> }

type Shown = {
  readonly record: UpstreamRecord
  readonly seen: Seen
  readonly compared: readonly ComparedTool[]
}

/** One decision of a person about tools of a server. */
type Decision = {
  readonly act: 'upstream.accepted' | 'upstream.declined'
  /** Tools that are meant where none is named. */
  readonly waits: (tool: ComparedTool) => boolean
  /** Why it can't be decided so of a tool; null where it can. */
  readonly refusalOf: (tool: ComparedTool) => string | null
  readonly decide: (shown: Shown, chosen: ReadonlySet<string>) => Promise<Accepted>
}

const asksAPerson = ({ state }: ComparedTool): boolean =>
  state === 'new' || state === 'changed' || state === 'vanished'

const accepting: Decision = {
  act: 'upstream.accepted',
  waits: asksAPerson,
  refusalOf: ({ tool, state, problem }) =>
    state === 'refused' ? `its tool ${tool} can't be offered: ${problem}` : null,
  decide: async ({ record, seen, compared }, chosen) =>
    acceptTools(record.accepted, compared, seen, chosen),
}

const notDeclined: Readonly<Partial<Record<ComparedTool['state'], string>>> = {
  offered: 'is offered as it was accepted',
  vanished: 'is gone already; accept that to forget it',
  refused: "can't be offered, and asks for nothing",
}

const declining = ({ table }: Deps): Decision => ({
  act: 'upstream.declined',
  waits: ({ state }) => state === 'new' || state === 'changed',
  refusalOf: ({ tool, state }) => {
    const why = notDeclined[state]
    return why === undefined ? null : `its tool ${tool} ${why}`
  },
  decide: async ({ record, seen }, chosen) =>
    declineTools(await table.rules(record.name), record.accepted, seen, chosen),
})

function assertPossible(
  name: string,
  chosen: ReadonlySet<string>,
  compared: readonly ComparedTool[],
  { refusalOf }: Decision,
): void {
  for (const tool of chosen) {
    const found = compared.find((one) => one.tool === tool)
    const detail = found === undefined ? `it has no tool ${tool}` : refusalOf(found)
    if (detail !== null) throw new GatehouseError('UpstreamRefused', { upstream: name, detail })
  }
}

async function decide(
  op: Op,
  deps: Deps,
  { name, digest, tools }: { name: string } & (AcceptUpstream | DeclineUpstream),
  decision: Decision,
): Promise<UpstreamReview> {
  const { record, isOther } = await deps.auditLog.transaction(async (tx) => {
    const row = await tx.upstreams.find(name)
    if (!row) throw new GatehouseError('UpstreamNotFound', { upstream: name.slice(0, 100) })
    const current = readRow(row)
    const { seen } = current
    if (seen === null || reviewDigest(deps, current) !== digest)
      throw new GatehouseError(
        'Conflict',
        { detail: `The tools of ${name} have changed since they were shown.` },
        { recovery: [{ action: `gatehouse upstream show ${name}`, description: 'Look again.' }] },
      )
    const compared = await deps.table.compare(current)
    const waiting = compared.filter(decision.waits)
    const chosen = new Set(tools ?? waiting.map(({ tool }) => tool))
    assertPossible(name, chosen, compared, decision)
    const accepted = await decision.decide({ record: current, seen, compared }, chosen)
    const next = { ...current, accepted, change_number: current.change_number + 1 }
    await tx.upstreams.put(toRow(next))
    const wasOther = isOtherCertificate(current.accepted, seen)
    const facts = {
      name,
      digest,
      ...(wasOther ? { certificate: seen.certificate } : {}),
      tools: compared
        .filter(({ tool, state }) => chosen.has(tool) && state !== 'offered')
        .map(({ tool, state, hash }) => ({ tool, state, hash })),
    }
    tx.append(actDraft(op, decision.act, { arguments: facts }))
    return { record: next, isOther: wasOther && !isOtherCertificate(accepted, seen) }
  })
  // The server was refused until now, and is tried again only after a pause.
  if (isOther) await deps.connections.end(name)
  return reviewOf(deps, record, await deps.table.offer(record))
}

/** Tools are offered from now on as they were shown. */
export const acceptUpstream = (
  op: Op,
  deps: Deps,
  input: { name: string } & AcceptUpstream,
): Promise<UpstreamReview> => decide(op, deps, input, accepting)

/** Tools stay out of service as they were shown; what is accepted of them stays so, and is offered where it comes back. */
export const declineUpstream = (
  op: Op,
  deps: Deps,
  input: { name: string } & DeclineUpstream,
): Promise<UpstreamReview> => decide(op, deps, input, declining(deps))
