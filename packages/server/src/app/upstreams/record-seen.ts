import { GatehouseError } from '@gatehouse/contract'
import type { CertificateIdentity } from '../../domain/upstream/certificate.ts'
import { type Seen, withUnseen } from '../../domain/upstream/pins.ts'
import type { UpstreamConnection, UpstreamOrder, WireTool } from '../../ports/upstream.ts'
import { actDraft } from '../call/audit-draft.ts'
import { systemOp } from '../call/op.ts'
import { seenOf } from './add-upstream.ts'
import { readRow, toRow, type UpstreamRecord } from './stored.ts'
import { findUpstream, type UpstreamDeps } from './upstream-deps.ts'

type SeenDeps = UpstreamDeps & { readonly signal: AbortSignal }

/** A server that was accepted before certificates were pinned is pinned to the first that is seen. */
const withFirstCertificate = (
  accepted: UpstreamRecord['accepted'],
  { certificate }: Seen,
): UpstreamRecord['accepted'] =>
  accepted.server === null || accepted.certificate || !certificate
    ? accepted
    : { ...accepted, certificate }

/** State of a server after a look at it, by the state that is stored; null where they are the same. */
type Seeing = (known: Seen | null) => Seen | null

/**
 * Keeps what a server has now, worked out from what is stored as that is replaced: connections of several agents see it at once.
 * What differs from what was accepted is out of service before this resolves.
 */
async function keepSeen(deps: SeenDeps, name: string, seeing: Seeing): Promise<void> {
  if (seeing((await findUpstream(deps, name)).seen) === null) return
  const record = await deps.auditLog.transaction(async (tx) => {
    const row = await tx.upstreams.find(name)
    if (!row) throw new GatehouseError('UpstreamNotFound', { upstream: name })
    const current = readRow(row)
    const seen = seeing(current.seen)
    if (seen === null) return current
    const next = {
      ...current,
      accepted: withFirstCertificate(current.accepted, seen),
      seen,
      seen_ms: deps.clock.wall(),
      change_number: current.change_number + 1,
    }
    await tx.upstreams.put(toRow(next))
    const compared = await deps.table.compare(next)
    const changes = compared.filter(({ state }) => state !== 'offered')
    const facts = {
      name,
      server: `${seen.server} ${seen.version}`,
      ...(seen.certificate ? { certificate: seen.certificate } : {}),
      tools: seen.tools.length,
      waiting: changes.map(({ tool, state }) => `${tool}: ${state}`).slice(0, 100),
    }
    tx.append(actDraft(systemOp(deps), 'upstream.changed', { arguments: facts }))
    return next
  })
  await deps.table.offer(record)
}

/** Takes in what a connection shows. */
export async function recordSeen(
  deps: SeenDeps,
  { name, agent, access }: UpstreamOrder,
  connection: UpstreamConnection,
  tools: readonly WireTool[],
): Promise<void> {
  const shown = seenOf(connection, tools)
  // A server may show an agent that it knows less than others: that is no reason to take it from them.
  const isPart = agent !== null && access.owner !== null
  const { digest } = deps
  await keepSeen(deps, name, (known) => {
    const seen = isPart ? withUnseen(shown, known) : shown
    return digest.canonical(known) === digest.canonical(seen) ? null : seen
  })
}

const recordCertificate = (
  deps: SeenDeps,
  name: string,
  certificate: CertificateIdentity,
): Promise<void> =>
  keepSeen(deps, name, (known) =>
    known === null ||
    deps.digest.canonical(known.certificate ?? null) === deps.digest.canonical(certificate)
      ? null
      : { ...known, certificate },
  )

/** Another certificate than the accepted one takes all tools of the server out of service, and is raised on. */
export async function whilePinned<T>(
  deps: SeenDeps,
  name: string,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    if (cause instanceof GatehouseError && cause.type === 'UpstreamCertificateChanged')
      await recordCertificate(deps, name, cause.facts['certificate'] as CertificateIdentity)
    throw cause
  }
}
