import os from 'node:os'
import { parentPort } from 'node:worker_threads'
import { type ErrorType, GatehouseError } from '@gatehouse/contract'
import { describeSystemFailure } from '../domain/system-failure.ts'
import type { AuditRows } from '../ports/audit-rows.ts'
import { type ChainQuestion, verifierOf } from './verify-chain.ts'

export type VerifierJob =
  | { readonly op: 'verify'; readonly question: ChainQuestion }
  | { readonly op: 'digest'; readonly chain: string; readonly size: number }

/** `stop`: nobody waits any more, and the thread ends. */
export type VerifierMessage = { readonly id: number; readonly job: VerifierJob } | 'stop'

export type VerifierAnswer = { readonly id: number } & (
  | { readonly result: unknown }
  | {
      readonly failure: {
        readonly type: ErrorType
        readonly facts: GatehouseError['facts']
        readonly cause: unknown
      }
    }
)

/** By so much the thread gives way to the one that answers calls. Only Linux knows priorities of threads. */
const nicer = 10

const giveWay = (): void => {
  if (process.platform !== 'linux') return
  try {
    os.setPriority(0, Math.min(19, os.getPriority(0) + nicer))
  } catch {
    // A hardened unit may forbid it; then all threads come in turn.
  }
}

/** The other side of `VerifierThread`. Rows are opened for each job: what lies in the files now counts. */
export const answerJobs = (
  openRows: () => Promise<Pick<AuditRows, 'range'> & AsyncDisposable>,
): void => {
  giveWay()
  const stop = new AbortController()
  let open = 0
  const closeIfDone = (): void => {
    if (stop.signal.aborted && open === 0) parentPort?.close()
  }
  const answer = async (job: VerifierJob): Promise<unknown> => {
    await using rows = await openRows()
    const verifier = verifierOf(rows)
    return job.op === 'verify'
      ? await verifier.verify(job.question, stop.signal)
      : await verifier.digest(job.chain, job.size, stop.signal)
  }
  const respond = async (id: number, job: VerifierJob): Promise<void> => {
    open += 1
    const sent = await answer(job).then(
      (result): VerifierAnswer => ({ id, result }),
      (error: unknown): VerifierAnswer => {
        const known = error instanceof GatehouseError
        const type = known ? error.type : 'StorageUnavailable'
        const facts = known ? error.facts : { detail: describeSystemFailure(error) }
        return { id, failure: { type, facts, cause: String((error as Error).stack ?? error) } }
      },
    )
    open -= 1
    parentPort?.postMessage(sent)
    closeIfDone()
  }
  parentPort?.on('message', (message: VerifierMessage) => {
    if (message !== 'stop') return void respond(message.id, message.job)
    stop.abort()
    closeIfDone()
  })
}
