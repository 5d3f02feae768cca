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

export type QuestionDeps = Pick<Basics, 'auditLog' | 'ids' | 'log'> & {
  readonly clock: Clock
  readonly secrets: Pick<Secrets, 'hide' | 'scrub'>
  readonly settings: { readonly 'approvals.hold': number }
  /** Stores what people elsewhere are told, before the question can be answered. */
  readonly notified: (question: Question) => Promise<void>
  readonly signal: AbortSignal
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

/**
 * What upstream servers ask people. A question lives as long as its call, in this process: nobody could pass on an
 * answer that comes later.
 * @SECURITY Only people answer; no capability reaches this. upstream/questions.test.ts.
 */
export class Questions {
  readonly #deps: QuestionDeps
  readonly #open = new Map<string, Open>()
  /** Being written to the log and told of: they take a place already, and nobody can answer them yet. */
  readonly #beginning = new Set<Question>()
  readonly #listeners = new Set<(question: Question) => void>()

  constructor(deps: QuestionDeps) {
    this.#deps = deps
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
      await this.#deps.auditLog.append(actDraft(systemOp(this.#deps), 'upstream.asked', facts))
      await this.#deps.notified(question)
    } finally {
      this.#beginning.delete(question)
    }
    return await this.#wait(question, fields, signal)
  }

  /** Passes on what a person answers. Raises `QuestionNotFound` and `AnswerRefused`. */
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
      await this.#deps.auditLog.append(actDraft(op, 'upstream.answered', facts))
    } catch (cause) {
      open.end({ action: 'cancel', content: null })
      throw cause
    }
    open.end({ action, content })
    return { question, action }
  }

  #find(question_id: string): Open {
    const open = this.#open.get(question_id)
    if (!open)
      throw new GatehouseError('QuestionNotFound', { question_id: question_id.slice(0, 100) })
    return open
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
    const { clock, log, settings } = this.#deps
    return new Promise((resolve) => {
      const withdraw = (reason: string) => {
        if (!this.#open.delete(question.id)) return
        this.#withdrawn(question, reason).catch((cause: unknown) =>
          log.warn(
            { err: cause, question_id: question.id },
            'a withdrawn question is not on record',
          ),
        )
        end({ action: 'cancel', content: null })
      }
      const timer = clock.after(settings['approvals.hold'], () =>
        withdraw('nobody answered in time'),
      )
      const aborted = () => withdraw(endOf(signal))
      const end = (reply: UpstreamReply) => {
        timer[Symbol.dispose]()
        signal.removeEventListener('abort', aborted)
        resolve(reply)
      }
      this.#open.set(question.id, { question, fields, end })
      if (signal.aborted) return aborted()
      signal.addEventListener('abort', aborted, { once: true })
      this.#tell(question)
    })
  }

  async #withdrawn({ id, upstream, agent }: Question, reason: string): Promise<void> {
    const facts = { agent, arguments: { question_id: id, server: upstream }, detail: { reason } }
    await this.#deps.auditLog.append(
      actDraft(systemOp(this.#deps), 'upstream.question_withdrawn', facts),
    )
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
