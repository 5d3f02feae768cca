import { createRequire } from 'node:module'
import { Worker } from 'node:worker_threads'
import { auditColumns } from '../sql/audit-codec.ts'
import { encodeText } from '../sql/text.ts'
import { failure, type Statement } from './adapter.ts'
import { hashLength, type RecordRange, separator } from './promised-groups.ts'

/** What is stored in one go. */
export type SettleJob = {
  /** The groups as they were kept: their rows are read from there, which costs this thread the least. */
  readonly shared: SharedArrayBuffer
  readonly places: readonly RecordRange[]
  /** What inserts a row. */
  readonly insert: string
  /** Run after the rows. */
  readonly statements: readonly Statement[]
  /** Whether this process wrote by another connection since the last time. */
  readonly others: boolean
}

type Answer =
  | { readonly foreign: boolean }
  | { readonly message: string; readonly errcode: number | undefined }

/**
 * By so much the thread gives way to the one that answers: what it stores is on the disk already. No more
 * than that, since readers wait for it. Only Linux knows priorities of single threads.
 */
const nicer = 10

/** What the program names a column's value. The hash of a body does not stand in it. */
const valueOf = (column: (typeof auditColumns)[number]): string =>
  column === 'hash' || column === 'body' ? column : `row.${column}`

/**
 * @NOTE Given as text because a file of its own would have another name built than in the sources, where
 * Node cannot load it. `data_version` moves with commits of other connections only.
 */
const program = `
const os = require('node:os')
const { parentPort, workerData } = require('node:worker_threads')
const { DatabaseSync } = require(workerData.driver)
if (process.platform === 'linux')
  try {
    os.setPriority(0, Math.min(19, os.getPriority(0) + workerData.nicer))
  } catch {
    // A hardened unit may forbid it; then all threads come in turn.
  }
const database = new DatabaseSync(workerData.file, { timeout: 5000 })
for (const pragma of workerData.pragmas) database.exec(pragma)
const prepared = new Map()
const prepare = (text) => {
  let statement = prepared.get(text)
  if (!statement) prepared.set(text, (statement = database.prepare(text)))
  return statement
}
const version = () => Object.values(prepare('pragma data_version').get())[0]
let seen = version()
const { hashLength, separator } = workerData
const encodeText = ${encodeText.toString()}
const encoded = new Set(['agent', 'capability', 'session_id', 'approval_id'])
const store = (insert, line) => {
  const body = line.slice(hashLength)
  const hash = line.slice(0, hashLength)
  const row = JSON.parse(body)
  // What has to be encoded has a backslash in JSON.
  if (body.includes('\\\\'))
    for (const column of encoded) if (row[column] !== null) row[column] = encodeText(row[column])
  insert.run(${auditColumns.map(valueOf).join(', ')})
}
const textAt = (shared, [at, length]) => Buffer.from(shared, at, length).toString('utf8')
parentPort.on('message', ({ shared, places, insert, statements, others }) => {
  try {
    database.exec('begin immediate')
    const now = version()
    const foreign = !others && now !== seen
    const inserting = prepare(insert)
    for (const place of places) {
      const lines = textAt(shared, place).split(separator)
      for (let i = 1; i < lines.length; i++) store(inserting, lines[i])
    }
    for (const [text, values] of statements) prepare(text).run(...values)
    database.exec('commit')
    seen = version()
    parentPort.postMessage({ foreign })
  } catch (error) {
    if (database.isTransaction) database.exec('rollback')
    parentPort.postMessage({ message: String(error.message), errcode: error.errcode })
  }
})
parentPort.on('close', () => database.close())
`

/** A second connection in a thread of its own, which stores what nobody waits for. One job at a time. */
export class SettleWorker {
  readonly #file: string
  readonly #pragmas: readonly string[]
  #worker: Worker | null = null

  constructor(file: string, pragmas: readonly string[]) {
    this.#file = file
    this.#pragmas = pragmas
  }

  /**
   * Does the job in one transaction. Resolves with whether anybody but this process wrote since the last
   * time. Raises like the connection here.
   */
  async run(job: SettleJob): Promise<boolean> {
    const worker = (this.#worker ??= this.#start())
    const answer = await new Promise<Answer>((resolve) => {
      const died = (cause: unknown) => {
        this.#worker = null
        const message = cause instanceof Error ? cause.message : 'the thread that stores ended'
        resolve({ message, errcode: undefined })
      }
      worker.removeAllListeners()
      worker.once('message', resolve)
      worker.once('error', died)
      worker.once('exit', died)
      worker.ref()
      worker.postMessage(job)
    })
    worker.unref()
    if ('foreign' in answer) return answer.foreign
    throw failure(Object.assign(new Error(answer.message), { errcode: answer.errcode }), this.#file)
  }

  async end(): Promise<void> {
    const worker = this.#worker
    this.#worker = null
    worker?.removeAllListeners()
    await worker?.terminate()
  }

  #start(): Worker {
    const driver = createRequire(import.meta.url).resolve('@photostructure/sqlite')
    const worker = new Worker(program, {
      eval: true,
      env: {},
      execArgv: [],
      workerData: {
        file: this.#file,
        pragmas: this.#pragmas,
        driver,
        hashLength,
        separator,
        nicer,
      },
    })
    return worker
  }
}
