import { workerData } from 'node:worker_threads'
import { answerJobs } from './log/answer-jobs.ts'
import { giveWay } from './log/give-way.ts'
import { VerifierThread } from './log/verifier-thread.ts'
import { createClock } from './platform/clock.ts'

/** Where the log of a node lies, and the copies of other nodes' entries. */
export type LogPlace = {
  readonly directory: string
  readonly chain: string
  /** Of the database that nodes share; null where this node is alone. */
  readonly url: string | null
  /** Threads that may verify parts of a log of so many entries at once; null where there are none, or for one of them. */
  readonly helpers: { readonly threads: number; readonly entriesMin: number } | null
  readonly isHelper?: boolean
}

const place = workerData as LogPlace

const none = {
  read: async () => [],
  async [Symbol.asyncDispose]() {},
}

const openCopies = async () => {
  if (place.url === null) return none
  const { openPostgresCopies } = await import('./storage/postgres/open-copies.ts')
  return openPostgresCopies(place.url)
}

const openHelpers = (entries: number) => {
  const { helpers } = place
  if (!helpers || entries < helpers.entriesMin) return null
  const program = new URL(import.meta.url)
  const clock = createClock(0)
  const helperPlace: LogPlace = { ...place, url: null, helpers: null, isHelper: true }
  const all = Array.from(
    { length: helpers.threads },
    () => new VerifierThread({ program, place: helperPlace, clock }),
  )
  return {
    all,
    [Symbol.asyncDispose]: async () => {
      await Promise.all(all.map((helper) => helper[Symbol.asyncDispose]()))
    },
  }
}

// The program of the thread that verifies the audit log. A helper has given way already: it inherits that.
if (!place.isHelper) giveWay()
answerJobs(place, { openCopies, openHelpers })
