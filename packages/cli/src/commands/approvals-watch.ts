import type { Approval, Question } from '@gatehouse/contract'
import { approvalCard, approvalLine } from '../approval-card.ts'
import { type Context, defineCommand } from '../define.ts'
import { escapeText, jsonText } from '../escape-text.ts'
import { eventsAgain } from '../events-again.ts'
import { toFailure } from '../failure.ts'
import { questionLine } from '../question-card.ts'
import { linePrompt, lineText, type ReasonLine } from '../reason-line.ts'
import {
  emptyWatch,
  onAnswer,
  onApproval,
  onKey,
  onShown,
  onSnapshot,
  present,
  type WatchState,
  type WatchStep,
} from '../watch-state.ts'

type Snapshot = { readonly approvals: readonly Approval[] }

const keysHelp = '[a] approve  [r] reject  [n] next  [q] quit'
const lineStart = '\r\u001b[K'

/** The cards, the keys and what came of them, on a terminal. */
class ApprovalScreen {
  readonly #context: Context
  readonly #ended = new AbortController()
  readonly #signal: AbortSignal
  #state: WatchState = emptyWatch
  #typing = false
  /** Steps are taken one after the other, each on the screen before the next begins. */
  #steps: Promise<void> = Promise.resolve()
  #sent: Promise<void> = Promise.resolve()

  constructor(context: Context) {
    this.#context = context
    this.#signal = AbortSignal.any([context.io.signal, this.#ended.signal])
  }

  async run(): Promise<void> {
    try {
      await Promise.all([this.#listen().finally(() => this.#ended.abort()), this.#press()])
    } finally {
      this.#ended.abort()
      // A decision that was made is sent to its end, and reported.
      await this.#sent
      await this.#steps
    }
  }

  #take(next: (state: WatchState) => WatchStep): Promise<void> {
    const step = this.#after(this.#steps, next)
    this.#steps = step.catch(() => undefined)
    return step
  }

  async #after(before: Promise<void>, next: (state: WatchState) => WatchStep): Promise<void> {
    await before
    const { io, views } = this.#context
    const step = next(this.#state)
    this.#state = step.state
    await this.#write(step.line)
    for (const sentence of step.say ?? []) await this.#say(sentence)
    if (step.show) {
      const card = approvalCard(step.show, views.stdout)
      await io.stdout.write(`\n${card}\n\n${keysHelp}\n`)
      this.#state = onShown(this.#state, step.show.id, io.nowMs())
    }
    if (step.end) this.#ended.abort()
    if (step.decide) this.#sent = this.#decide(step.decide)
    for (const id of step.ask ?? []) void this.#ask(id)
  }

  #say(sentence: string): Promise<void> {
    return this.#context.io.stderr.write(`${escapeText(sentence)}\n`)
  }

  /** The line with what is typed so far; its question stands above it. */
  async #write(line: ReasonLine | null | undefined): Promise<void> {
    const { stderr } = this.#context.io
    if (line === undefined) return
    if (line === null) await stderr.write('\n')
    else if (!this.#typing) await stderr.write(`${linePrompt(line)}\n`)
    this.#typing = line !== null
    if (line) await stderr.write(`${lineStart}${lineText(line, stderr.columns)}`)
  }

  async #decide({ approval, decision, reason }: NonNullable<WatchStep['decide']>): Promise<void> {
    const { api } = this.#context
    const { id, digest } = approval
    const because = reason === '' ? {} : { reason }
    const answer = await (decision === 'approve'
      ? api.approveApproval({ id, digest, ...because })
      : api.rejectApproval({ id, ...because })
    ).catch(async (error: unknown) => ({
      refused: toFailure(error).message,
      // The card may say what is no longer so, such as that nothing has changed since the call.
      stands: await api.showApproval({ id }).catch(() => null),
    }))
    await this.#take((state) => onAnswer(state, id, answer))
  }

  /** How an approval stands, whose events may have been lost with a connection. */
  async #ask(id: string): Promise<void> {
    const approval = await this.#context.api.showApproval({ id }).catch(() => null)
    if (approval) await this.#take((state) => onApproval(state, approval))
  }

  async #listen(): Promise<void> {
    const { api } = this.#context
    const again = () => this.#take((state) => present(state, ['Connecting again …']))
    for await (const { name, data } of eventsAgain(api, this.#signal, again)) {
      if (name === 'snapshot')
        await this.#take((state) => onSnapshot(state, (data as Snapshot).approvals))
      if (name === 'approval') await this.#take((state) => onApproval(state, data as Approval))
      if (name === 'question')
        await this.#take((state) =>
          present(state, [questionLine(data as Question, this.#context.next)]),
        )
    }
  }

  async #press(): Promise<void> {
    for await (const { text, atMs } of this.#context.io.stdin.keys(this.#signal))
      await this.#take((state) => onKey(state, text, atMs))
  }
}

/** One line for each approval as it comes or changes. */
async function watchLines({ api, io, json, note }: Context): Promise<void> {
  const print = (approval: Approval) =>
    io.stdout.write(`${json ? jsonText(approval, 0) : approvalLine(approval)}\n`)
  for await (const { name, data } of eventsAgain(api, io.signal, () =>
    note('Connecting again …'),
  )) {
    if (name === 'snapshot')
      for (const approval of (data as Snapshot).approvals) await print(approval)
    if (name === 'approval') await print(data as Approval)
  }
}

export const approvalsWatch = defineCommand({
  name: 'approvals watch',
  summary: 'Show requests as they arrive, and decide each with a key',
  examples: ['gatehouse approvals watch', 'gatehouse approvals watch --json'],
  async run(context) {
    await context.server()
    const { io, json } = context
    if (!json && io.stdin.isTTY && io.stdout.isTTY) await new ApprovalScreen(context).run()
    else await watchLines(context)
  },
})
