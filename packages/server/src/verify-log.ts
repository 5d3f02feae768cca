import { workerData } from 'node:worker_threads'
import { answerJobs } from './audit/answer-jobs.ts'
import { openSqliteRows } from './storage/sqlite/open-rows.ts'

/** Where the rows of the audit log lie. */
export type LogPlace = { readonly file: string } | { readonly url: string }

const place = workerData as LogPlace

// The program of the thread that verifies the audit log.
answerJobs(async () => {
  if ('file' in place) return openSqliteRows(place.file)
  const { openPostgresRows } = await import('./storage/postgres/open-rows.ts')
  return openPostgresRows(place.url)
})
