import { GatehouseError, type LogMessage } from '@gatehouse/contract'
import { sendableMeta } from '../../domain/upstream/meta.ts'
import { visibleText } from '../../domain/upstream/visible-text.ts'
import type { Clock } from '../../ports/clock.ts'
import type { ToolCall, UpstreamAnswer, UpstreamCall } from '../../ports/upstream.ts'
import { upstreamKey } from '../call/invoke.ts'
import { seenOf } from './add-upstream.ts'
import type { Connections, Live } from './connections.ts'
import type { ToolCaller } from './foreign-calls.ts'
import type { AskingCall, Questions } from './questions.ts'
import type { ToolTable } from './tool-table.ts'

export type CallDeps = {
  readonly questions: Pick<Questions, 'ask'>
  readonly connections: Connections
  readonly table: Pick<ToolTable, 'hash' | 'outOfService' | 'subscribe'>
}

/** The gate's own deadline is what a call is bounded by; this one only has to lie behind it. */
const timeoutMs = 3_600_000
const failureMax = 32_768
/** Each gives the call its whole time again. */
const questionsMax = 10
const tellMs = 5_000
const metaBytesMax = 8_192
const logMessagesMax = 100
const logBytesMax = 8_192
const loggerMax = 200

const textOf = ({ content }: UpstreamAnswer): string =>
  content
    .map(({ type, text }) =>
      typeof text === 'string' ? text : `[${typeof type === 'string' ? type : 'content'}]`,
    )
    .join('\n')

/** Members that the agent's client sends beside its call: as much as a server may be sent of it. */
const metaOf = ({ meta, secrets }: ToolCaller): UpstreamCall['meta'] | null => {
  const sent = meta && secrets.scrub(sendableMeta(meta))
  if (!sent || Object.keys(sent).length === 0) return null
  return Buffer.byteLength(JSON.stringify(sent)) <= metaBytesMax ? sent : null
}

/** @SECURITY The reader of the result can tell that it is from outside; upstream/calls.test.ts. */
const marked = (upstream: string, { isError: _isError, ...answer }: UpstreamAnswer) => ({
  ...answer,
  _meta: { ...answer._meta, [upstreamKey]: upstream },
})

/** A message of a server's log as an agent's client reads it: whose it is, and no larger than it may be. */
const shownLog = (upstream: string, { level, logger, data }: LogMessage): LogMessage => {
  const bytes = Buffer.byteLength(JSON.stringify(data) ?? '')
  return {
    level,
    logger: logger === undefined ? upstream : `${upstream}/${visibleText(logger, loggerMax)}`,
    data: bytes <= logBytesMax ? data : `[left out: ${bytes} bytes]`,
    _meta: { [upstreamKey]: upstream },
  }
}

/** Log messages of the server while the call runs, up to a bound, and their number. */
class CallLog {
  readonly #upstream: string
  readonly #context: ToolCaller
  #told = 0

  constructor(upstream: string, context: ToolCaller) {
    this.#upstream = upstream
    this.#context = context
  }

  /** Absent where nobody reads it. */
  forCall(): Pick<UpstreamCall, 'logs'> {
    const { logs } = this.#context
    if (logs === null) return {}
    return { logs: { level: logs.level, tell: (message) => this.#tell(message, logs) } }
  }

  #tell(message: LogMessage, logs: NonNullable<ToolCaller['logs']>): void {
    if (this.#told > logMessagesMax) return
    this.#told += 1
    const data = `[left out: all after ${logMessagesMax} messages]`
    logs.tell(
      shownLog(
        this.#upstream,
        this.#told > logMessagesMax ? { level: message.level, data } : message,
      ),
    )
  }

  /** For the audit log. */
  facts(): { readonly log_messages?: number } {
    return this.#told === 0 ? {} : { log_messages: Math.min(this.#told, logMessagesMax) }
  }
}

/** @SECURITY Compared at each call with what this very connection has; upstream/pinning.test.ts. */
const assertInService = (
  { table }: CallDeps,
  { upstream, tool, hash }: ToolCall,
  live?: Live,
): void => {
  const shown = live && {
    tools: live.tools,
    seen: () => seenOf(live.connection, live.tools),
  }
  const found = live?.tools.find(({ name }) => name === tool)
  const isOther = found !== undefined && table.hash(found) !== hash
  const detail =
    table.outOfService(upstream, tool, shown) ??
    (isOther ? 'another definition was accepted after the call was made' : null)
  if (detail !== null) throw new GatehouseError('UpstreamNotReviewed', { upstream, tool, detail })
}

/** @SECURITY A tool that is out of service asks nobody, and hears no answer; upstream/pinning.test.ts. */
async function whileInService<T>(
  deps: CallDeps,
  call: ToolCall,
  signal: AbortSignal,
  work: (ends: AbortSignal) => Promise<T>,
): Promise<T> {
  const ended = new AbortController()
  const look = () => {
    try {
      assertInService(deps, call)
    } catch (cause) {
      ended.abort(cause)
    }
  }
  look()
  ended.signal.throwIfAborted()
  using _changes = deps.table.subscribe(look)
  const done = await work(AbortSignal.any([signal, ended.signal]))
  ended.signal.throwIfAborted()
  return done
}

/** The progress that the server tells and, while a person is asked, ours: each step beyond the one before. */
const asking = (
  deps: CallDeps,
  made: ToolCall,
  context: ToolCaller,
): Pick<UpstreamCall, 'ask' | 'progress'> => {
  const { questions } = deps
  const { upstream, capability } = made
  let asked = 0
  let told = 0
  let waited = 0
  const waiting = () => {
    waited += 1
    context.progress(
      told + waited,
      undefined,
      `${upstream} asks a person, and waits for the answer`,
    )
  }
  return {
    progress(done, total, message) {
      told = Math.max(told, done)
      context.progress(done + waited, total === undefined ? total : total + waited, message)
    },
    async ask(question, other_calls, signal) {
      asked += 1
      if (asked > questionsMax) {
        const detail = `it asks more than ${questionsMax} questions in one call`
        throw new GatehouseError('UpstreamFailed', { upstream, detail })
      }
      const { request_id, agent } = context
      const call = {
        upstream,
        agent: agent.name,
        capability,
        request_id,
        other_calls,
      } as AskingCall
      const told = new AbortController()
      void repeat(context.clock, waiting, told.signal)
      try {
        return await whileInService(deps, made, signal, (ends) =>
          context.whileAsking(() => questions.ask(call, question, ends)),
        )
      } finally {
        told.abort()
      }
    },
  }
}

/** Now, and every few seconds until it ends: clients take a call that tells nothing for lost. */
async function repeat(clock: Clock, tell: () => void, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    tell()
    await clock.sleep(tellMs, signal)
  }
}

/** Calls a tool in the name of an agent. What the server says of a failure reaches the agent as its words. */
export async function callTool(
  deps: CallDeps,
  call: ToolCall,
  context: ToolCaller,
): Promise<Record<string, unknown>> {
  const { upstream, tool } = call
  return deps.connections.with(upstream, context.agent.name, context.signal, async (live) => {
    assertInService(deps, call, live)
    const meta = metaOf(context)
    const sent = meta ? { meta: Object.keys(meta) } : {}
    const log = new CallLog(upstream, context)
    const noted = () =>
      context.note({ upstream: { server: upstream, tool, ...sent, ...log.facts() } })
    noted()
    const work = live.connection.call({
      tool,
      arguments: call.arguments,
      ...(meta ? { meta } : {}),
      signal: context.signal,
      timeout_ms: timeoutMs,
      ...log.forCall(),
      ...asking(deps, call, context),
    })
    const answer = await work.finally(() => context.logs && noted())
    if (answer.isError !== true) return marked(upstream, answer)
    const said = textOf(answer).slice(0, failureMax)
    throw new GatehouseError('UpstreamToolFailed', {
      detail: said === '' ? `${tool} of ${upstream} failed without a word` : said,
    })
  })
}
