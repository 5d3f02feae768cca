import { dirname } from 'node:path'
import { workerData } from 'node:worker_threads'
import { answerJobs } from './log/answer-jobs.ts'
import { giveWay } from './log/give-way.ts'
import { otherFolders, SiblingLogs } from './log/sibling-logs.ts'
import { VerifierThread } from './log/verifier-thread.ts'
import { createClock } from './platform/clock.ts'

/** Where the log of a process lies, and those of others. */
export type LogPlace = {
  readonly directory: string
  readonly chain: string
  /** Of the database that nodes share, with copies of their entries; null where this node is alone. */
  readonly url: string | null
  /** The data directory of the node, with the logs of its other gate processes. */
  readonly dataDir: string
  /** Threads that may verify parts of a log of so many entries at once; null where there are none, or for one of them. */
  readonly helpers: { readonly threads: number; readonly entriesMin: number } | null
  readonly isHelper?: boolean
}

const place = workerData as LogPlace

const openCopies = async () => {
  if (place.url === null)
    return Object.assign(
      new SiblingLogs(() => otherFolders(place.dataDir, dirname(place.directory))),
      {
        async [Symbol.asyncDispose]() {},
      },
    )
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
