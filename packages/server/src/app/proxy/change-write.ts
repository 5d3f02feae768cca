import { type BufferedWrite, GatehouseError, type WriteFilterStatus } from '@gatehouse/contract'
import type { AuditTransaction } from '../../ports/audit.ts'
import type { Period } from '../../ports/period.ts'
import type { StoredRollback, StoredWrite } from '../../ports/writes.ts'
import { actDraft } from '../call/audit-draft.ts'
import { actorText, type Op } from '../call/op.ts'
import { publishWrite, writeFacts } from './buffer-write.ts'
import { warnOfDeadLetters } from './dead-letters.ts'
import type { ProxyDeps } from './deps.ts'
import { writeRecords } from './records.ts'

/** `conflict`: it stands otherwise than it would have to; the record shows how. */
export type ChangedWrite = {
  readonly kind: 'changed' | 'conflict'
  readonly write: BufferedWrite
}
type Named = { readonly write_id: string; readonly agent?: string }
type Step = (tx: AuditTransaction, current: StoredWrite) => Promise<StoredWrite | null>

export const recordOf = async (deps: ProxyDeps, write: StoredWrite): Promise<BufferedWrite> => {
  const [record] = await writeRecords(deps, [write])
  return record as BufferedWrite
}

/** Changes one write and records it, in one step; of several who try one wins. */
async function change(
  op: Op,
  deps: ProxyDeps,
  { write_id, agent }: Named,
  act: string,
  step: Step,
): Promise<ChangedWrite> {
  const { kind, write } = await deps.auditLog.transaction(async (tx) => {
    const current = await tx.writes.find(write_id)
    // An agent's look at another's write is one at a write that is not there.
    if (!current || (agent !== undefined && current.agent !== agent))
      throw new GatehouseError('WriteNotFound', { write_id })
    const next = await step(tx, current)
    if (!next || !(await tx.writes.replace(current, next)))
      return { kind: 'conflict', write: (await tx.writes.find(write_id)) ?? current } as const
    tx.append(actDraft(op, act, writeFacts(next)))
    return { kind: 'changed', write: next } as const
  })
  if (kind === 'changed') publishWrite(deps, act, write)
  return { kind, write: await recordOf(deps, write) }
}

export const cancelled = (write: StoredWrite, by: string, wallMs: number): StoredWrite => ({
  ...write,
  status: 'cancelled',
  phase: null,
  owner: null,
  lease_ms: null,
  finished_ms: wallMs,
  ended_by: by,
})

/** The write does not run. @SECURITY Of this and the claim one wins; test/proxy/cancel-race.test.ts. */
export const cancelWrite = (op: Op, deps: ProxyDeps, input: Named): Promise<ChangedWrite> =>
  change(op, deps, input, 'write.cancelled', async (_tx, current) =>
    current.status === 'buffered'
      ? cancelled(current, actorText(op.actor), deps.clock.wall())
      : null,
  )

const beingRolledBack = ({ id }: StoredRollback): GatehouseError =>
  new GatehouseError(
    'RollbackNotReady',
    { rollback_id: id, status: 'being rolled back' },
    {
      recovery: [
        {
          action: 'gatehouse proxy rollbacks',
          description: 'See how it ends. After that the write can be sent once more, or discarded.',
        },
      ],
    },
  )

/** A person has decided that a write which failed is sent once more. Raises `RollbackNotReady` while it is being undone. */
export async function retryWrite(op: Op, deps: ProxyDeps, input: Named): Promise<ChangedWrite> {
  const changed = await change(op, deps, input, 'write.retried', async (tx, current) => {
    if (!current.dead) return null
    // Undoing and sending at once would end in either state, by chance.
    const point = await tx.rollbacks.ofWrite(current.id)
    if (point?.status === 'rolling_back') throw beingRolledBack(point)
    const service = await tx.services.find(current.service)
    if (!service || service.status === 'disconnected')
      throw new GatehouseError('ServiceUnavailable', {
        service: current.service,
        detail: 'it is disconnected',
      })
    await tx.rollbacks.removeOfWrite(current.id)
    return {
      ...current,
      status: 'buffered',
      due_ms: deps.clock.now(),
      attempts: 0,
      proofs: 0,
      repeatable: true,
      finished_ms: null,
      dead: false,
    }
  })
  deps.nudge.writes()
  if (changed.kind === 'changed') await warnOfDeadLetters(deps, changed.write.service)
  return changed
}

/** A person has decided that a write which failed is let go. */
export async function discardWrite(op: Op, deps: ProxyDeps, input: Named): Promise<ChangedWrite> {
  const changed = await change(op, deps, input, 'write.discarded', async (_tx, current) =>
    current.dead ? { ...current, dead: false, ended_by: actorText(op.actor) } : null,
  )
  if (changed.kind === 'changed') await warnOfDeadLetters(deps, changed.write.service)
  return changed
}

export async function listWrites(
  deps: ProxyDeps,
  filter: Period & {
    readonly status?: WriteFilterStatus | undefined
    readonly agent?: string | undefined
    readonly service?: string | undefined
    readonly limit: number
    readonly offset: number
  },
): Promise<{ readonly writes: readonly BufferedWrite[]; readonly total: number }> {
  const { status, agent, service, ...rest } = filter
  const { writes, total } = await deps.storage.writes.list({
    ...rest,
    ...(agent === undefined ? {} : { agent }),
    ...(service === undefined ? {} : { service }),
    ...(status === undefined
      ? {}
      : status === 'dead'
        ? { dead: true }
        : { statuses: status === 'pending' ? ['buffered', 'executing'] : [status] }),
  })
  return { writes: await writeRecords(deps, writes), total }
}

/**
 * Cancels the writes of a service or an agent of which nothing was sent yet, inside the transaction that ends it.
 * @SECURITY Also one that has begun: its run meets the cancelled row before it sends; test/proxy/write-races.test.ts.
 */
export async function cancelAll(
  op: Op,
  deps: Pick<ProxyDeps, 'clock'>,
  tx: AuditTransaction,
  of: { readonly service: string } | { readonly agent: string },
): Promise<StoredWrite[]> {
  const done: StoredWrite[] = []
  for (;;) {
    const waiting = await tx.writes.listUnsent(of)
    if (waiting.length === 0) return done
    for (const current of waiting) {
      const next = cancelled(current, actorText(op.actor), deps.clock.wall())
      if (!(await tx.writes.replace(current, next))) continue
      done.push(next)
      tx.append(actDraft(op, 'write.cancelled', writeFacts(next)))
    }
  }
}
