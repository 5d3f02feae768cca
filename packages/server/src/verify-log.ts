import { workerData } from 'node:worker_threads'
import { answerJobs } from './log/answer-jobs.ts'

/** Where the log of a node lies, and the copies of other nodes' entries. */
export type LogPlace = {
  readonly directory: string
  readonly chain: string
  /** Of the database that nodes share; null where this node is alone. */
  readonly url: string | null
}

const place = workerData as LogPlace

const none = {
  read: async () => [],
  async [Symbol.asyncDispose]() {},
}

// The program of the thread that verifies the audit log.
answerJobs(place, async () => {
  if (place.url === null) return none
  const { openPostgresCopies } = await import('./storage/postgres/open-copies.ts')
  return openPostgresCopies(place.url)
})
