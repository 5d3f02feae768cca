import { Worker } from 'node:worker_threads'
import type { MailPerson } from '../../../domain/mail/message.ts'

/** Raw pieces of a message: its header, and the texts in it with just enough of a header to be decoded. */
export type MailPieces = {
  readonly header: Uint8Array
  readonly parts: readonly { readonly kind: 'plain' | 'html'; readonly bytes: Uint8Array }[]
  /** In place of the parts where the server could not say how the message is built: its beginning, raw. */
  readonly source: Uint8Array | null
}

/** A message in plain words; nothing in it is longer than a screenful of pages. */
export type ReadMail = {
  readonly subject: string
  readonly from: MailPerson | null
  readonly to: readonly MailPerson[]
  readonly cc: readonly MailPerson[]
  readonly bcc: readonly MailPerson[]
  readonly reply_to: readonly MailPerson[]
  /** As the sender claims; ISO 8601, null where it is no date. */
  readonly date: string | null
  readonly message_id: string | null
  readonly references: readonly string[]
  readonly text: string
  readonly html: string | null
  /** Whether `text` was made from HTML. */
  readonly text_from_html: boolean
  readonly attachments: readonly { readonly name: string; readonly content_type: string }[]
}

const answerMs = 4_000
/** The same for the start of the thread, which has nothing of a stranger until then. */
const startMs = 60_000

type Answer =
  | { readonly read: ReadMail }
  | { readonly error: string }
  /** The thread takes messages: said once, before it is given any. */
  | { readonly ready: true }

const program = new URL('./read-mail.mjs', import.meta.url)

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

/** The next word of a thread, to a message or of itself. */
const wordOf = (worker: Worker, limitMs: number, message?: MailPieces): Promise<Answer> =>
  new Promise<Answer>((resolve) => {
    const finish = (given: Answer) => {
      clearTimeout(timer)
      worker.off('message', finish).off('error', failed).off('exit', failed)
      resolve(given)
    }
    const failed = () => finish({ error: 'ended' })
    const timer = setTimeout(failed, limitMs)
    worker.on('message', finish).on('error', failed).on('exit', failed)
    if (message) worker.postMessage(message)
  })

/**
 * Reads mail in a thread of its own: a message made to take minutes or gigabytes costs a moment, and is
 * then shown without what could not be read.
 */
export class MailReader implements Disposable {
  #worker: Worker | null = null
  /** First word of that thread. */
  #started: Promise<Answer> = Promise.resolve({ error: 'ended' })
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
    const worker = new Worker(program, {
      env: {},
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: 192, stackSizeMb: 4 },
    })
    worker.on('error', () => {})
    worker.unref()
    return worker
  }

  async #ask(pieces: MailPieces): Promise<ReadMail | null> {
    if (!this.#worker) {
      this.#worker = this.#start()
      this.#started = wordOf(this.#worker, startMs)
    }
    const worker = this.#worker
    const started = await this.#started
    const answer = 'ready' in started ? await wordOf(worker, answerMs, pieces) : started
    if ('read' in answer) return answer.read
    // A worker that did not answer is busy for who knows how long; one that did may have lost its way.
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
