import { parentPort } from 'node:worker_threads'
import type { ErrorType, GatehouseError } from '@gatehouse/contract'
import { sentFailure } from '../domain/sent-failure.ts'
import { type ChainVerifier, type CopiesReader, sealerOf, verifierOf } from './chain-verifier.ts'
import type { CopiesQuestion } from './check-copies.ts'
import { LogReader } from './log-files.ts'
import type { ChainQuestion } from './verify-chain.ts'

export type VerifierJob =
  | { readonly op: 'verify'; readonly question: ChainQuestion }
  | { readonly op: 'copies'; readonly question: CopiesQuestion }
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

/** Entries that a job goes through, of those that helpers can share. */
const entriesOfJob = (job: VerifierJob): number =>
  job.op === 'verify' ? (job.question.through ?? 0) - job.question.from.size : 0

type Offers = {
  readonly openCopies: () => Promise<CopiesReader & AsyncDisposable>
  /** Threads that verify parts of so long a log at once, until the job is done; null where none are worth it. */
  readonly openHelpers: (
    entries: number,
  ) => (AsyncDisposable & { readonly all: readonly ChainVerifier[] }) | null
}

/** The other side of `VerifierThread`. Log and copies are opened for each job: what lies in the files now counts. */
export const answerJobs = (
  { directory, chain }: { readonly directory: string; readonly chain: string },
  { openCopies, openHelpers }: Offers,
): void => {
  const stop = new AbortController()
  let open = 0
  const closeIfDone = (): void => {
    if (stop.signal.aborted && open === 0) parentPort?.close()
  }
  const answer = async (job: VerifierJob): Promise<unknown> => {
    await using copies = await openCopies()
    await using helpers = openHelpers(entriesOfJob(job))
    const files = new LogReader(directory)
    const verifier = verifierOf(files, copies, sealerOf(directory), chain, helpers?.all)
    if (job.op === 'verify') return await verifier.verify(job.question, stop.signal)
    if (job.op === 'copies') return await verifier.checkCopies(job.question, stop.signal)
    return await verifier.digest(job.chain, job.size, stop.signal)
  }
  const respond = async (id: number, job: VerifierJob): Promise<void> => {
    open += 1
    const sent = await answer(job).then(
      (result): VerifierAnswer => ({ id, result }),
      (error: unknown): VerifierAnswer => {
        const cause = String((error as Error).stack ?? error)
        return { id, failure: { ...sentFailure(error), cause } }
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
