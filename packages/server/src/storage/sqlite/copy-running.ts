import { createRequire } from 'node:module'
import { Worker } from 'node:worker_threads'
import { GatehouseError } from '@gatehouse/contract'
import { describeSystemFailure } from '../../domain/system-failure.ts'
import { createPrivateFile } from './copy.ts'

/** Runs apart from everything: a copy of gigabytes must not hold up a call. Written as the other side runs it. */
const work = `
const { parentPort, workerData } = require('node:worker_threads')
const { DatabaseSync } = require(workerData.driver)
const database = new DatabaseSync(workerData.from, { readOnly: true, timeout: 5000 })
try {
  database.prepare('vacuum into ?').run(workerData.to)
} finally {
  database.close()
}
parentPort.postMessage('done')
`

/** Copies a store that is in use into a new file, as it is at one moment, while calls go on. */
export const copyRunning = async (from: string, to: string): Promise<void> => {
  createPrivateFile(to)
  const driver = createRequire(import.meta.url).resolve('@photostructure/sqlite')
  const worker = new Worker(work, { eval: true, workerData: { from, to, driver } })
  try {
    await new Promise<void>((resolve, reject) => {
      worker.once('message', () => resolve())
      worker.once('error', reject)
      worker.once('exit', (code) => reject(new Error(`the copy ended with ${code}`)))
    })
  } catch (cause) {
    throw new GatehouseError(
      'StorageUnavailable',
      { detail: `the copy failed: ${describeSystemFailure(cause)}` },
      { cause },
    )
  } finally {
    await worker.terminate()
  }
}
