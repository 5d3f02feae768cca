import { Worker } from 'node:worker_threads'
import { GatehouseError } from '@gatehouse/contract'
import { describeSystemFailure } from '../../domain/system-failure.ts'
import { createPrivateFile } from './copy.ts'

/** In a thread: a copy of gigabytes must not hold up a call. */
const program = new URL('./copy-thread.mjs', import.meta.url)

/** Copies a store that is in use into a new file, as it is at one moment, while calls go on. */
export const copyRunning = async (from: string, to: string): Promise<void> => {
  createPrivateFile(to)
  const worker = new Worker(program, { workerData: { from, to } })
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
