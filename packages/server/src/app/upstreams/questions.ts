import {
  type AnswerBody,
  type AnsweredQuestion,
  GatehouseError,
  type Question,
} from '@gatehouse/contract'
import {
  checkForm,
  type FormField,
  keptValues,
  readForm,
  secretsIn,
} from '../../domain/upstream/question-form.ts'
import { visibleText } from '../../domain/upstream/visible-text.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Secrets } from '../../ports/secrets.ts'
import type { UpstreamQuestion, UpstreamReply } from '../../ports/upstream.ts'
import { actDraft } from '../call/audit-draft.ts'
import type { Basics } from '../call/basics.ts'
import { type Op, systemOp } from '../call/op.ts'
import { keepLeft, type LeftQuestion, readLeft } from './left-questions.ts'

export type QuestionDeps = Pick<Basics, 'auditLog' | 'ids' | 'log'> & {
  readonly storage: Pick<Basics['storage'], 'meta'>
  /** Name of this node. */
  readonly node: string
  readonly clock: Clock
  readonly secrets: Pick<Secrets, 'hide' | 'scrub'>
  readonly settings: { readonly 'approvals.hold': number }
  /** Stores what people elsewhere are told, before the question can be answered. */
  readonly notified: (question: Question) => Promise<void>
  readonly signal: AbortSignal
  /** Aborts when the service begins to stop, while calls are still under way. */
  readonly stops: AbortSignal
}

/** The call that a question comes up in. */
export type AskingCall = Pick<
  Question,
  'upstream' | 'agent' | 'capability' | 'request_id' | 'other_calls'
>

type Open = {
  readonly question: Question
  readonly fields: readonly FormField[]
  readonly end: (reply: UpstreamReply) => void
}

const openMax = 100
const openOfServerMax = 10
/** Withdrawn ones of which it is known why, the newest. */
const withdrawnMax = 200
const messageMax = 4_000
const urlMax = 2_048

const refused = (upstream: string, detail: string): GatehouseError =>
  new GatehouseError('UpstreamFailed', { upstream, detail })

const withoutBounds = (field: FormField): Question['fields'][number] => {
  const { min: _min, max: _max, format: _format, choices, ...shown } = field
  return choices.length > 0 ? { ...shown, choices: [...choices] } : shown
}

const endOf = ({ reason }: AbortSignal): string =>
  reason instanceof GatehouseError && reason.type === 'UpstreamNotReviewed'
    ? 'its tool was taken out of service'
    : 'the call has ended'

const stoppedReason = 'the service was stopped while it waited, and its call with it'
const diedReason = 'the service ended while it waited, and its call with it'

const withdrawal = ({ id, upstream, agent }: LeftQuestion, reason: string) => ({
  agent,
  arguments: { question_id: id, server: upstream },
  detail: { reason },
})

/** An address that a person may be sent to. Anything but the web, and whatever hides where it leads, is none. */
const addressOf = (upstream: string, given: string): string => {
  let url: URL
  try {
    url = new URL(given)
  } catch {
    throw refused(upstream, 'it asks a person to open something that is no address')
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    throw refused(upstream, `it asks a person to open an address that begins with ${url.protocol}`)
  if (url.username !== '' || url.password !== '' || url.href.length > urlMax)
    throw refused(upstream, 'it asks a person to open an address that hides where it leads')
  return url.href
}

type ChangeLeft = (left: readonly LeftQuestion[]) => readonly LeftQuestion[]

const without =
  (ended: string): ChangeLeft =>
  (left) =>
    left.filter(({ id }) => id !== ended)

const withReason =
  (ended: string, reason: string): ChangeLeft =>
  (left) =>
    left.map((one) => (one.id === ended ? { ...one, reason } : one))

/**
 * Questions of upstream servers to people. A question lives as long as its call, in this process: nobody could pass on an
 * answer that comes later. The store knows which ones wait, so that they are withdrawn however the process ends.
 * @SECURITY Only people answer; no capability reaches this. upstream/questions.test.ts.
 */
export class Questions {
  readonly #deps: QuestionDeps
  readonly #open = new Map<string, Open>()
  /** Being written to the log and told of: they take a place already, and nobody can answer them yet. */
  readonly #beginning = new Set<Question>()
  readonly #listeners = new Set<(question: Question) => void>()
  /** Why each was withdrawn, for whoever answers it all the same. */
  readonly #withdrawn = new Map<string, LeftQuestion & { readonly reason: string }>()
  readonly #withdrawing = new Set<Promise<void>>()

  constructor(deps: QuestionDeps) {
    this.#deps = deps
  }

  /** Withdraws what this node had put to people when it ended without a word. */
  async start(): Promise<void> {
    const { auditLog, node, storage } = this.#deps
    const left = await readLeft(storage, node)
    if (left.length === 0) return
    await auditLog.transaction(async (tx) => {
      await keepLeft(tx, node, [])
      const op = systemOp(this.#deps)
      for (const one of left)
        if (one.reason === undefined)
          tx.append(actDraft(op, 'upstream.question_withdrawn', withdrawal(one, diedReason)))
    })
    for (const one of left) this.#remember(one, one.reason ?? diedReason)
  }

  /** Resolves when what was withdrawn is on record. */
  async stopped(): Promise<void> {
    await Promise.allSettled(this.#withdrawing)
  }

  list(): readonly Question[] {
    return [...this.#open.values()].map(({ question }) => question)
  }

  show(question_id: string): Question {
    return this.#find(question_id).question
  }

  /** Calls the listener with each question as it is asked. */
  subscribe(listener: (question: Question) => void): Disposable {
    this.#listeners.add(listener)
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) }
  }

  /**
   * Puts it to people and waits for one of them, for a bounded time. It is withdrawn where the signal aborts. Raises
   * `UpstreamFailed` for what cannot be asked.
   */
  async ask(
    call: AskingCall,
    asked: UpstreamQuestion,
    signal: AbortSignal,
  ): Promise<UpstreamReply> {
    const { question, fields } = this.#read(call, asked)
    const facts = {
      agent: question.agent,
      arguments: {
        question_id: question.id,
        server: question.upstream,
        message: question.message,
        ...(question.url === null
          ? { fields: fields.map(({ name }) => name) }
          : { url: question.url }),
      },
      detail: { capability: question.capability, call: question.request_id },
    }
    this.#beginning.add(question)
    try {
      await this.#record(systemOp(this.#deps), 'upstream.asked', facts, (left) => [
        ...left,
        { id: question.id, upstream: question.upstream, agent: question.agent },
      ])
      await this.#deps.notified(question)
    } finally {
      this.#beginning.delete(question)
    }
    return await this.#wait(question, fields, signal)
  }

  /** Passes on what a person answers. Raises `QuestionNotFound`, `QuestionWithdrawn` and `AnswerRefused`. */
  async answer(
    op: Op,
    { question_id, action, values }: { readonly question_id: string } & AnswerBody,
  ): Promise<AnsweredQuestion> {
    const open = this.#find(question_id)
    const { question, fields } = open
    const { id, upstream, agent, kind } = question
    const refuse = (detail: string) =>
      new GatehouseError('AnswerRefused', { question_id: id, detail })
    if (values !== undefined && (action !== 'accept' || kind === 'url'))
      throw refuse('values are given with an accepted form alone.')
    const checked = checkForm(action === 'accept' ? fields : [], values ?? {})
    if (checked.kind === 'invalid') throw refuse(`${checked.problems.join('; ')}.`)
    // Of two people who answer at once, the second hears that it is answered.
    this.#open.delete(id)
    const content = action === 'accept' && kind === 'form' ? checked.values : null
    for (const secret of secretsIn(fields, checked.values))
      this.#deps.secrets.hide(`answer:${upstream}`, secret)
    const detail = content === null ? {} : { detail: { values: keptValues(fields, content) } }
    const facts = { agent, arguments: { question_id: id, server: upstream, action }, ...detail }
    try {
      await this.#record(op, 'upstream.answered', facts, without(id))
    } catch (cause) {
      open.end({ action: 'cancel', content: null })
      throw cause
    }
    open.end({ action, content })
    return { question, action }
  }

  #find(question_id: string): Open {
    const open = this.#open.get(question_id)
    if (open) return open
    const withdrawn = this.#withdrawn.get(question_id)
    if (!withdrawn)
      throw new GatehouseError('QuestionNotFound', { question_id: question_id.slice(0, 100) })
    const { upstream, reason } = withdrawn
    throw new GatehouseError('QuestionWithdrawn', { question_id, upstream, detail: reason })
  }

  #read(call: AskingCall, asked: UpstreamQuestion): Pick<Open, 'question' | 'fields'> {
    const { upstream } = call
    const { clock, ids, secrets, settings } = this.#deps
    const all = [...this.list(), ...this.#beginning]
    const ofServer = all.filter((one) => one.upstream === upstream).length
    if (all.length >= openMax || ofServer >= openOfServerMax)
      throw refused(upstream, 'it asks while too many of its questions wait for an answer')
    const form =
      asked.kind === 'form' ? readForm(asked.schema) : ({ kind: 'readable', fields: [] } as const)
    if (form.kind === 'unreadable') throw refused(upstream, `it asks a person, but ${form.problem}`)
    const nowMs = clock.wall()
    const iso = (ms: number) => new Date(ms).toISOString()
    const question: Question = {
      ...call,
      id: ids.next('ques') as Question['id'],
      kind: asked.kind,
      message: secrets.scrub(visibleText(asked.message, messageMax)),
      fields: secrets.scrub(form.fields.map(withoutBounds)),
      url: asked.kind === 'url' ? addressOf(upstream, asked.url) : null,
      asked_at: iso(nowMs),
      expires_at: iso(nowMs + settings['approvals.hold']),
    }
    return { question, fields: form.fields }
  }

  #wait(
    question: Question,
    fields: readonly FormField[],
    signal: AbortSignal,
  ): Promise<UpstreamReply> {
    const { clock, settings, stops } = this.#deps
    return new Promise((resolve, reject) => {
      const withdraw = (reason: string, left = without(question.id)): boolean => {
        const isOpen = this.#open.delete(question.id)
        if (isOpen) this.#withdraw(question, reason, left)
        return isOpen
      }
      const cancel = (reason: string) => {
        if (withdraw(reason)) end({ action: 'cancel', content: null })
      }
      const timer = clock.after(settings['approvals.hold'], () => cancel('nobody answered in time'))
      const aborted = () => cancel(endOf(signal))
      const stopped = () => {
        if (!withdraw(stoppedReason, withReason(question.id, stoppedReason))) return
        release()
        reject(
          refused(
            question.upstream,
            'the service is stopping, and nobody answers what it asks any more. Make the call again later',
          ),
        )
      }
      const release = () => {
        timer[Symbol.dispose]()
        signal.removeEventListener('abort', aborted)
        stops.removeEventListener('abort', stopped)
      }
      const end = (reply: UpstreamReply) => {
        release()
        resolve(reply)
      }
      this.#open.set(question.id, { question, fields, end })
      if (stops.aborted) return stopped()
      if (signal.aborted) return aborted()
      stops.addEventListener('abort', stopped, { once: true })
      signal.addEventListener('abort', aborted, { once: true })
      this.#tell(question)
    })
  }

  #withdraw(question: Question, reason: string, left: ChangeLeft): void {
    const { log } = this.#deps
    this.#remember(question, reason)
    const facts = withdrawal(question, reason)
    const act = 'upstream.question_withdrawn'
    const withdrawing = this.#record(systemOp(this.#deps), act, facts, left)
      .catch((cause: unknown) =>
        log.warn({ err: cause, question_id: question.id }, 'a withdrawn question is not on record'),
      )
      .finally(() => this.#withdrawing.delete(withdrawing))
    this.#withdrawing.add(withdrawing)
  }

  /** An entry, and in the same step what is left to be withdrawn by the next start. */
  async #record(
    op: Op,
    act: string,
    facts: Parameters<typeof actDraft>[2],
    next: ChangeLeft,
  ): Promise<void> {
    const { auditLog, node } = this.#deps
    await auditLog.transaction(async (tx) => {
      await keepLeft(tx, node, next(await readLeft(tx, node)))
      tx.append(actDraft(op, act, facts))
    })
  }

  #remember({ id, upstream, agent }: LeftQuestion, reason: string): void {
    const [oldest] = this.#withdrawn.keys()
    if (oldest !== undefined && this.#withdrawn.size >= withdrawnMax) this.#withdrawn.delete(oldest)
    this.#withdrawn.set(id, { id, upstream, agent, reason })
  }

  #tell(question: Question): void {
    for (const listener of this.#listeners) {
      try {
        listener(question)
      } catch (cause) {
        this.#deps.log.error({ err: cause, question_id: question.id }, 'a listener failed')
      }
    }
  }
}
