import { workerData } from 'node:worker_threads'
import { answerJobs } from './log/answer-jobs.ts'
import { openSqliteIndex } from './storage/sqlite/open-index.ts'

/** Where the log of a node lies, and its index. */
export type LogPlace = { readonly directory: string; readonly chain: string } & (
  | { readonly file: string }
  | { readonly url: string }
)

const place = workerData as LogPlace

// The program of the thread that verifies the audit log.
answerJobs(place, async () => {
  if ('file' in place) return openSqliteIndex(place.file)
  const { openPostgresIndex } = await import('./storage/postgres/open-index.ts')
  return openPostgresIndex(place.url)
})
