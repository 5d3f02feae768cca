// The program of the thread that a RegexWorker asks.
import { parentPort, workerData } from 'node:worker_threads'
import { RE2JS } from 're2js'
import { findInLines, replaceIn } from './regex-steps.mjs'

/** @import { Job } from './regex-worker.ts' */

/** @type {RE2JS | null} */
let regex = null

/** @param {Job} job */
const answer = (job) => {
  regex ??= RE2JS.compile(workerData.pattern)
  return job.op === 'find'
    ? findInLines(regex, job.lines, job.max)
    : replaceIn(regex, job.text, job.replacement)
}

parentPort?.on('message', (job) => {
  try {
    parentPort?.postMessage({ result: answer(job) })
  } catch (error) {
    parentPort?.postMessage({ error: error instanceof Error ? error.message : String(error) })
  }
})
parentPort?.postMessage({ ready: true })
