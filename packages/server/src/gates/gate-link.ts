import { randomInt } from 'node:crypto'
import { type ErrorType, GatehouseError } from '@gatehouse/contract'
import { sentFailure } from '../domain/sent-failure.ts'
import { placeAmong } from '../domain/spread.ts'
import type {
  Asker,
  Following,
  GateNews,
  GateQuestion,
  GateQuestions,
  Gates,
} from '../ports/gates.ts'

/** A message between two gate processes, by way of the first. */
export type Envelope = { readonly from: number; readonly to: number | 'others' } & (
  | { readonly kind: 'news'; readonly news: GateNews }
  | {
      readonly kind: 'question'
      readonly id: number
      readonly question: GateQuestion
      readonly given: unknown
    }
  /** Of whoever asked: the answer is wanted no more. */
  | { readonly kind: 'leave'; readonly id: number }
  /** Of work that is followed. */
  | { readonly kind: 'told'; readonly id: number; readonly told: unknown }
  | { readonly kind: 'answer'; readonly id: number; readonly answer: unknown }
  | {
      readonly kind: 'failure'
      readonly id: number
      readonly type: ErrorType
      readonly facts: GatehouseError['facts']
    }
)

type Waiting = {
  readonly to: number
  readonly resolve: (answer: unknown) => void
  readonly reject: (cause: unknown) => void
  readonly told: ((told: never) => void) | undefined
}

type Answering = (given: unknown, asker: Asker<never>) => Promise<unknown>

const answerMs = 30_000
/** Questions about a whole log, or that wait for a program to end. */
const longMs = 600_000
const long: ReadonlySet<GateQuestion> = new Set([
  'verify log',
  'acknowledge log',
  'copy log',
  'retention',
  'end program',
])

/** Number of a gate process for people, who count from 1. */
export const gateName = (index: number): string => `gate process ${index + 1}`

const gone = (index: number, what: string): GatehouseError =>
  new GatehouseError('StorageUnavailable', { detail: `${gateName(index)} ${what}` })

/** One end of the connections between the gate processes. */
export class GateLink implements Gates {
  readonly index: number
  readonly count: number
  readonly others: readonly number[]
  readonly #send: (envelope: Envelope) => void
  readonly #listeners = new Map<GateNews['kind'], Set<(news: never) => void>>()
  readonly #answering = new Map<GateQuestion, Answering>()
  readonly #waiting = new Map<number, Waiting>()
  /** Questions of others that are being answered, by who asked and the number there. */
  readonly #asking = new Map<string, AbortController>()
  readonly #serving = new Set<number>()
  readonly #watching = new Set<(index: number, serves: boolean) => void>()
  /** An answer to one that was here before must not be taken for one to this process. */
  #asked = randomInt(2 ** 40)

  constructor(given: {
    readonly index: number
    readonly count: number
    /** Must not throw; what cannot be sent is lost. */
    readonly send: (envelope: Envelope) => void
  }) {
    this.index = given.index
    this.count = given.count
    this.others = Array.from({ length: given.count }, (_, at) => at).filter(
      (at) => at !== given.index,
    )
    this.#send = given.send
  }

  homeOf(agent: string): number {
    return placeAmong(agent, this.count)
  }

  serves(index: number): boolean {
    return this.#serving.has(index)
  }

  onServing(listener: (index: number, serves: boolean) => void): void {
    this.#watching.add(listener)
  }

  tell(news: GateNews): void {
    this.#send({ from: this.index, to: 'others', kind: 'news', news })
  }

  onNews<K extends GateNews['kind']>(
    kind: K,
    listener: (news: Extract<GateNews, { readonly kind: K }>) => void,
  ): Disposable {
    const own = (news: Extract<GateNews, { readonly kind: K }>) => listener(news)
    const listeners = this.#listeners.get(kind) ?? new Set()
    this.#listeners.set(kind, listeners.add(own))
    return { [Symbol.dispose]: () => void listeners.delete(own) }
  }

  async ask<Q extends GateQuestion>(
    to: number,
    question: Q,
    given: GateQuestions[Q]['given'],
    following?: Following<Q>,
  ): Promise<GateQuestions[Q]['answer']> {
    following?.signal.throwIfAborted()
    const id = ++this.#asked
    const answered = new Promise((resolve, reject) => {
      this.#waiting.set(id, { to, resolve, reject, told: following?.told })
    })
    const release = following
      ? this.#leaveWith(following.signal, to, id)
      : this.#failLate(to, id, long.has(question) ? longMs : answerMs)
    this.#send({ from: this.index, to, kind: 'question', id, question, given })
    try {
      return (await answered) as GateQuestions[Q]['answer']
    } finally {
      release()
    }
  }

  answer<Q extends GateQuestion>(
    question: Q,
    by: (given: GateQuestions[Q]['given'], asker: Asker<Q>) => Promise<GateQuestions[Q]['answer']>,
  ): void {
    this.#answering.set(question, by as Answering)
  }

  /** Takes what came for this process. */
  receive(envelope: Envelope): void {
    switch (envelope.kind) {
      case 'news': {
        const { news } = envelope
        for (const listener of [...(this.#listeners.get(news.kind) ?? [])]) listener(news as never)
        return
      }
      case 'question':
        return void this.#respond(envelope)
      case 'leave':
        return this.#asking.get(`${envelope.from}/${envelope.id}`)?.abort()
      case 'told':
        return this.#waiting.get(envelope.id)?.told?.(envelope.told as never)
      case 'answer':
        this.#waiting.get(envelope.id)?.resolve(envelope.answer)
        this.#waiting.delete(envelope.id)
        return
      case 'failure':
        this.#fail(envelope.id, new GatehouseError(envelope.type, envelope.facts))
    }
  }

  /** A process serves from now on. */
  found(index: number): void {
    this.#serving.add(index)
    for (const listener of this.#watching) listener(index, true)
  }

  /** Nobody answers there any more. */
  lost(index: number): void {
    const served = this.#serving.delete(index)
    for (const [id, { to }] of this.#waiting) if (to === index) this.#fail(id, gone(index, 'ended'))
    for (const [key, ended] of this.#asking) if (key.startsWith(`${index}/`)) ended.abort()
    // One that does not start has been gone since it last served.
    if (served) for (const listener of this.#watching) listener(index, false)
  }

  #failLate(to: number, id: number, ms: number): () => void {
    const late = setTimeout(() => this.#fail(id, gone(to, 'does not answer')), ms)
    late.unref()
    return () => clearTimeout(late)
  }

  #leaveWith(signal: AbortSignal, to: number, id: number): () => void {
    const leave = () => {
      this.#send({ from: this.index, to, kind: 'leave', id })
      this.#fail(id, signal.reason)
    }
    signal.addEventListener('abort', leave, { once: true })
    return () => signal.removeEventListener('abort', leave)
  }

  async #respond({
    from,
    id,
    question,
    given,
  }: Extract<Envelope, { kind: 'question' }>): Promise<void> {
    const back = { from: this.index, to: from, id } as const
    const key = `${from}/${id}`
    const ended = new AbortController()
    const tell = (told: unknown) => {
      if (!ended.signal.aborted) this.#send({ ...back, kind: 'told', told })
    }
    this.#asking.set(key, ended)
    try {
      const by = this.#answering.get(question)
      if (!by) throw gone(this.index, 'is starting')
      const answer = await by(given, { signal: ended.signal, tell })
      if (!ended.signal.aborted) this.#send({ ...back, kind: 'answer', answer })
    } catch (cause) {
      if (!ended.signal.aborted) this.#send({ ...back, kind: 'failure', ...sentFailure(cause) })
    } finally {
      this.#asking.delete(key)
    }
  }

  #fail(id: number, cause: unknown): void {
    this.#waiting.get(id)?.reject(cause)
    this.#waiting.delete(id)
  }
}
