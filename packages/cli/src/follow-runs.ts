import type { Approval } from '@gatehouse/contract'
import type { Context } from './define.ts'
import { isFinal } from './run-outcome.ts'

const waitSecondsDefault = 10

/**
 * Approved requests, as they stand when all of them have run, or when the time is over. Without a server
 * nothing runs yet, so nothing is waited for.
 */
export async function followRuns(
  { api, io, isServed }: Context,
  approved: readonly Approval[],
  waitSeconds = waitSecondsDefault,
): Promise<readonly Approval[]> {
  const latest = new Map(approved.map((approval) => [approval.id, approval]))
  const allEnded = () =>
    [...latest.values()].every((run) => run.status !== 'approved' || isFinal(run))
  if (waitSeconds === 0 || allEnded() || !(await isServed())) return approved
  const over = new AbortController()
  const end = () => over.abort()
  const timer = setTimeout(end, waitSeconds * 1000)
  io.signal.addEventListener('abort', end)
  if (io.signal.aborted) end()
  try {
    for await (const { name, data } of api.streamApprovals(over.signal)) {
      // Listening has begun: what ended before it is asked for once.
      if (name === 'snapshot')
        for (const id of [...latest.keys()]) latest.set(id, await api.showApproval({ id }))
      if (name === 'approval' && latest.has((data as Approval).id))
        latest.set((data as Approval).id, data as Approval)
      if (allEnded()) break
    }
  } catch {
    // The time is over, or the connection is; the decision stands.
  } finally {
    clearTimeout(timer)
    io.signal.removeEventListener('abort', end)
  }
  return [...latest.values()]
}
