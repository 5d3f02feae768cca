import { createRequire } from 'node:module'
import { Worker } from 'node:worker_threads'
import { type MailPieces, type ReadMail, readMail } from './read-mail.ts'

const answerMs = 4_000

type Answer = { readonly read: ReadMail } | { readonly error: string }

// As text, made of the function that is type checked: a file of its own has another name once built.
const program = `
const { parentPort, workerData } = require('node:worker_threads')
console.warn = () => {}
const PostalMime = require(workerData.postalMime).default
const { convert } = require(workerData.htmlToText)
const readMail = ${readMail.toString()}
const libraries = { parse: (raw, options) => PostalMime.parse(raw, options), htmlToText: convert }
parentPort.on('message', async (pieces) => {
  try {
    parentPort.postMessage({ read: await readMail(pieces, libraries) })
  } catch (error) {
    parentPort.postMessage({ error: String(error?.message ?? error) })
  }
})
`

const empty = (pieces: MailPieces): MailPieces => ({ ...pieces, parts: [], source: null })

const unreadable: ReadMail = {
  subject: '',
  from: null,
  to: [],
  cc: [],
  bcc: [],
  reply_to: [],
  date: null,
  message_id: null,
  references: [],
  text: '',
  html: null,
  text_from_html: false,
  attachments: [],
}

/**
 * Reads mail in a thread of its own: a message made to take minutes or gigabytes costs a moment, and is
 * then shown without what could not be read.
 */
export class MailReader implements Disposable {
  #worker: Worker | null = null
  #last: Promise<unknown> = Promise.resolve()

  /** The message, and whether something of it had to be left out. Never rejects for what the message is. */
  read(pieces: MailPieces): Promise<{ readonly mail: ReadMail; readonly damaged: boolean }> {
    const turn = this.#last.then(async () => {
      const whole = await this.#ask(pieces)
      if (whole) return { mail: whole, damaged: false }
      const head = await this.#ask(empty(pieces))
      return { mail: head ?? unreadable, damaged: true }
    })
    this.#last = turn.catch(() => {})
    return turn
  }

  #start(): Worker {
    const { resolve } = createRequire(import.meta.url)
    const worker = new Worker(program, {
      eval: true,
      workerData: { postalMime: resolve('postal-mime'), htmlToText: resolve('html-to-text') },
      env: {},
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: 192, stackSizeMb: 4 },
    })
    worker.on('error', () => {})
    worker.unref()
    return worker
  }

  async #ask(pieces: MailPieces): Promise<ReadMail | null> {
    this.#worker ??= this.#start()
    const worker = this.#worker
    const answer = await new Promise<Answer>((resolve) => {
      const finish = (given: Answer) => {
        clearTimeout(timer)
        worker.off('message', finish).off('error', failed).off('exit', failed)
        resolve(given)
      }
      const failed = () => finish({ error: 'ended' })
      const timer = setTimeout(failed, answerMs)
      worker.on('message', finish).on('error', failed).on('exit', failed)
      worker.postMessage(pieces)
    })
    if ('read' in answer) return answer.read
    // One that did not answer is busy for who knows how long; one that did may have lost its way.
    this.#worker = null
    void worker.terminate()
    return null
  }

  [Symbol.dispose](): void {
    const worker = this.#worker
    this.#worker = null
    void worker?.terminate()
  }
}
