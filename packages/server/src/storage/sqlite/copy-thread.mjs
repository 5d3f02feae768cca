// The program of the thread that copies a database in use.
import { parentPort, workerData } from 'node:worker_threads'
import { DatabaseSync } from '@photostructure/sqlite'

const database = new DatabaseSync(workerData.from, { readOnly: true, timeout: 5000 })
try {
  database.prepare('vacuum into ?').run(workerData.to)
} finally {
  database.close()
}
parentPort?.postMessage('done')
