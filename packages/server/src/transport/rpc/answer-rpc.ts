import { GatehouseError, type RpcErrorObject, type RpcId } from '@gatehouse/contract'
import type { App } from '../../app/app.ts'
import type { Held } from '../../app/call/memory-budget.ts'
import type { AgentOp } from '../../app/call/op.ts'
import type { Ids } from '../../ports/ids.ts'
import type { Log } from '../../ports/log.ts'
import { agentReasonFault } from '../http/agent-reason.ts'
import { describeThrown, rpcError } from '../http/describe-thrown.ts'
import { type Envelope, type Members, readEnvelope } from '../http/envelope.ts'
import type { Answered } from '../http/outcome.ts'
import { type Cancellation, type OpenFor, TransportOp, unread } from '../http/transport-op.ts'
import { sessionField } from './discover.ts'
import type { Method } from './method.ts'
import { methods, reasonField } from './methods.ts'
import { checkParams, type Fields } from './params.ts'

/** One authenticated HTTP request to `/rpc`. */
export type RpcCaller = {
  readonly app: App
  readonly ids: Pick<Ids, 'next'>
  readonly log: Log
  readonly actor: AgentOp['actor']
  readonly cancellation: Cancellation
  /** From the header Gatehouse-Session. */
  readonly session: string | null
  /** How its calls may wait, with what the header traceparent says. */
  readonly open: OpenFor
  readonly held: Held
  readonly batchMax: number
  readonly resultBytesMax: number
}

/** `body` is null where nothing is answered: notifications only. */
export type RpcAnswer = { readonly status: number; readonly body: string | null }

const shownNameMax = 64

const withSession = new Map<string, Fields>()
for (const method of methods.values()) {
  withSession.set(method.name, { ...method.fields, session_id: sessionField })
}

const sessionOf = (caller: RpcCaller, named: unknown): string | null => {
  if (named === undefined) return caller.session
  if (caller.session !== null && caller.session !== named) {
    throw new GatehouseError('InvalidParams', {
      detail: 'session_id and the header Gatehouse-Session name different sessions',
      member: 'session_id',
    })
  }
  return named as string
}

/** A notification waits for no person, and nothing is delivered. */
const unanswered = ({ open: { trace } }: RpcCaller): OpenFor => ({ gone: unread, trace })

/** Reason of an agent for its call; only `capabilities.invoke` has such a parameter. */
const reasonOf = ({ [reasonField]: reason }: Members): string | undefined => {
  if (reason === undefined || reason === '') return undefined
  const detail = agentReasonFault(reason)
  if (detail === null) return reason as string
  throw new GatehouseError('InvalidParams', { detail: `reason ${detail}`, member: reasonField })
}

/** Parameters of the method, without the session that any request may name. */
const ownOf = (members: Members): Members => {
  if (members['session_id'] === undefined) return members
  const { session_id: _named, ...own } = members
  return own
}

type CallEnvelope = Exclude<Envelope, { kind: 'invalid' }>

const perform = (
  caller: RpcCaller,
  method: Method,
  { kind, params, unreadable }: CallEnvelope,
  requestId: string,
): Promise<Answered> => {
  const members = checkParams(withSession.get(method.name) ?? {}, method.required, params)
  const named = members['session_id']
  const session = sessionOf(caller, named)
  const who = { actor: caller.actor, session_id: session, held: caller.held }
  const agent_reason = reasonOf(members)
  const waits = kind === 'notification' ? unanswered(caller) : caller.open
  const open = agent_reason === undefined ? waits : { ...waits, agent_reason }
  const op = new TransportOp(who, requestId, caller.cancellation, open)
  const answer = () => method.answer(caller.app, op, ownOf(members), unreadable)
  return method.inSession && session !== null
    ? caller.app.assertSession(op, { session_id: session }).then(answer)
    : answer()
}

type Done = Answered & { readonly unavailable?: boolean }

const execute = async (caller: RpcCaller, envelope: CallEnvelope): Promise<Done> => {
  const method = methods.get(envelope.method)
  if (!method) {
    const shown = envelope.method.slice(0, shownNameMax)
    return { error: rpcError('MethodNotFound', { method: shown }) }
  }
  const requestId = caller.ids.next('req')
  try {
    return await perform(caller, method, envelope, requestId)
  } catch (thrown) {
    return describeThrown(thrown, requestId, caller.log)
  }
}

const errorText = (id: RpcId, error: RpcErrorObject): string =>
  JSON.stringify({ jsonrpc: '2.0', id, error })

/** The text of an answer; one that is too large is replaced by a failure that says how to get it. */
const answerText = (caller: RpcCaller, id: RpcId, done: Done, bytesLeft: number): string => {
  if ('error' in done) return errorText(id, done.error)
  const text = JSON.stringify({ jsonrpc: '2.0', id, result: done.result })
  if (text.length <= bytesLeft) return text
  const { type, message, recovery } = new GatehouseError('ResultTooLarge', {
    size_bytes: text.length,
    limit_bytes: caller.resultBytesMax,
  })
  const result = { success: false, error: { type, message, recovery } }
  return JSON.stringify({ jsonrpc: '2.0', id, result })
}

const answerOne = async (caller: RpcCaller, value: unknown): Promise<RpcAnswer> => {
  const envelope = readEnvelope(value)
  if (envelope.kind === 'invalid') {
    return { status: 200, body: errorText(envelope.id, envelope.error) }
  }
  const done = await execute(caller, envelope)
  if (envelope.kind === 'notification') return { status: 204, body: null }
  const busy = 'error' in done && (done.overloaded === true || done.unavailable === true)
  return {
    status: busy ? 503 : 200,
    body: answerText(caller, envelope.id, done, caller.resultBytesMax),
  }
}

const answerBatch = async (caller: RpcCaller, batch: readonly unknown[]): Promise<RpcAnswer> => {
  if (batch.length === 0 || batch.length > caller.batchMax) {
    const detail = `a batch has 1 to ${caller.batchMax} requests`
    return { status: 200, body: errorText(null, rpcError('InvalidRequest', { detail })) }
  }
  const texts: string[] = []
  let bytesLeft = caller.resultBytesMax
  for (const value of batch) {
    const envelope = readEnvelope(value)
    if (envelope.kind === 'invalid') {
      texts.push(errorText(envelope.id, envelope.error))
      continue
    }
    const done = await execute(caller, envelope)
    if (envelope.kind === 'notification') continue
    const text = answerText(caller, envelope.id, done, bytesLeft)
    bytesLeft = Math.max(0, bytesLeft - text.length)
    caller.held.told(text.length)
    texts.push(text)
  }
  return texts.length === 0
    ? { status: 204, body: null }
    : { status: 200, body: `[${texts.join(',')}]` }
}

/** Answers a parsed body: one request, or a batch in its order. */
export const answerRpc = (caller: RpcCaller, value: unknown): Promise<RpcAnswer> =>
  Array.isArray(value) ? answerBatch(caller, value) : answerOne(caller, value)
