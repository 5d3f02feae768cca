import {
  capabilityName,
  GatehouseError,
  isLogLevel,
  type LogMessage,
  type Logs,
  logLevels,
  type RpcErrorObject,
  type RpcId,
  toolName,
} from '@gatehouse/contract'
import type { App } from '../../app/app.ts'
import type { UnreadableValue } from '../../app/call/invoke.ts'
import { namedCall } from '../../app/call/named-call.ts'
import { offeredTools } from '../../app/call/offered-tools.ts'
import type { AgentOp } from '../../app/call/op.ts'
import type { OfferedFeatures } from '../../app/upstreams/features.ts'
import { agentReasonFault } from '../http/agent-reason.ts'
import { describeThrown, rpcError } from '../http/describe-thrown.ts'
import { type Envelope, isMembers, type Members } from '../http/envelope.ts'
import {
  answerFeature,
  answerSubscription,
  type ClientFeature,
  capabilitiesOf,
  hasFeature,
  isClientFeature,
  isSubscriptionMethod,
  type SubscriptionMethod,
} from './features.ts'
import { type McpCall, type McpDeps, opOfCall } from './mcp-call.ts'
import {
  type AnsweredTool,
  failedTool,
  jsonOfResult,
  pageOfTools,
  type ToolPage,
  toolOutcome,
} from './tools.ts'
import { type LegacyVersion, negotiateVersion } from './versions.ts'

type Request = Omit<Extract<Envelope, { kind: 'request' }>, 'kind'>

export type ClientInfo = {
  readonly name: string
  readonly version: string
  /** The revision of MCP that it speaks. */
  readonly protocol: string
}

const clientTextMax = 200

const instructions =
  'Policy checks every call, and the audit log records it. Calls run at once; those of a tool with ' +
  'tier approval_required wait for a person. The answer of a waiting call has status ' +
  'pending_approval and an approval_id: follow it with approvals__wait, or repeat the same call. ' +
  "Don't try another way around. Paths are absolute inside your folders, or relative to your " +
  'workspace; agent__whoami names both. agent__capabilities with a name describes a tool in full. ' +
  'Where tools__search is listed, it finds tools that are not.'

export const serverInfo = (app: App) => ({
  name: 'gatehouse',
  title: 'Gatehouse',
  version: app.version,
})

export const serverInstructions = instructions

export const invalidParams = (member: string, detail: string): RpcErrorObject =>
  rpcError('InvalidParams', { detail: `${member} ${detail}`, member })

export type Initialized =
  | {
      readonly version: LegacyVersion
      readonly client: ClientInfo | null
      readonly result: (offered: OfferedFeatures) => Members
    }
  | { readonly error: RpcErrorObject }

/** Self-description of a client. Shown to people, it decides nothing. */
export const readClient = (info: unknown, protocol: string): ClientInfo | null =>
  isMembers(info) && typeof info['name'] === 'string'
    ? {
        name: info['name'].slice(0, clientTextMax),
        version: typeof info['version'] === 'string' ? info['version'].slice(0, clientTextMax) : '',
        protocol,
      }
    : null

/** The handshake. What the client says of itself is shown to people and decides nothing. */
export const initialize = (app: App, params: unknown): Initialized => {
  if (!isMembers(params) || typeof params['protocolVersion'] !== 'string') {
    return { error: invalidParams('protocolVersion', 'must be a string') }
  }
  const version = negotiateVersion(params['protocolVersion'])
  return {
    version,
    client: readClient(params['clientInfo'], version),
    result: (offered) => ({
      protocolVersion: version,
      capabilities: { tools: { listChanged: true }, ...capabilitiesOf(offered) },
      serverInfo: serverInfo(app),
      instructions,
    }),
  }
}

/** One page of the agent's tools; null for a cursor that is none of ours. */
export const listTools = async (
  deps: McpDeps,
  call: McpCall,
  cursor: string | undefined,
): Promise<ToolPage | null> => {
  const op = opOfCall(call, deps.ids.next('req'))
  return pageOfTools(offeredTools(await deps.app.listCapabilities(op, {})), cursor, deps.names)
}

export type Progress = { readonly progress: number; readonly total?: number; message?: string }

/** Progress may only grow, so what does not is left out. */
export const progressOf = (
  tell: (progress: Progress) => void,
): NonNullable<AgentOp['progress']> => {
  let last = Number.NEGATIVE_INFINITY
  return (done, total, message) => {
    if (done <= last) return
    last = done
    tell({
      progress: done,
      ...(total === undefined ? {} : { total }),
      ...(message === undefined ? {} : { message }),
    })
  }
}

/** Calls a tool through the gate. Raises what the gate raises. */
export const callTool = (
  deps: McpDeps,
  call: McpCall,
  requestId: string,
  input: {
    readonly name: string
    readonly arguments: unknown
    readonly unreadable?: readonly UnreadableValue[] | undefined
    readonly trace?: string | undefined
    readonly agent_reason?: string | undefined
    readonly meta?: Members | undefined
    readonly logs?: Logs | undefined
  },
  tell: ((progress: Progress) => void) | undefined,
): Promise<AnsweredTool> => {
  const op = opOfCall(call, requestId, tell ? progressOf(tell) : undefined, input)
  const { names } = deps
  const asked = { capability: capabilityName(input.name), arguments: input.arguments }
  const { unreadable } = input
  return deps.app.invoke(op, unreadable ? { ...asked, unreadable } : asked).then(
    (outcome) => toolOutcome(outcome, names, input.arguments),
    (thrown: unknown) => {
      // A failure of the capability stays one, whichever way it reaches us.
      if (!(thrown instanceof GatehouseError) || thrown.entry.rpc !== null) throw thrown
      return { result: failedTool(thrown, names, input.arguments) }
    },
  )
}

export type ToolCall = {
  readonly name: string
  readonly arguments: Members
  /** Values that could not be read exactly. */
  readonly unreadable: readonly UnreadableValue[] | undefined
  readonly progressToken: string | number | undefined
  /** `_meta.traceparent`. */
  readonly trace: string | undefined
  /** `_meta["gatehouse/reason"]`: why the agent makes the call. */
  readonly agent_reason: string | undefined
  readonly meta: Members | undefined
}

const reasonKey = 'gatehouse/reason'

const saidIn = (meta: Members = {}) => {
  const { progressToken: token, traceparent: trace, [reasonKey]: reason } = meta
  return {
    token: typeof token === 'string' || typeof token === 'number' ? token : undefined,
    trace: typeof trace === 'string' ? trace : undefined,
    reason,
  }
}

/** The parameters of `tools/call`; members we do not know are dropped, as MCP has it. */
export const readToolCall = (
  params: unknown,
  unreadable?: readonly UnreadableValue[],
): ToolCall | { readonly error: RpcErrorObject } => {
  if (!isMembers(params)) return { error: invalidParams('params', 'must be an object') }
  const { name, arguments: given, _meta: meta } = params
  if (typeof name !== 'string') return { error: invalidParams('name', 'must be a string') }
  if (given !== undefined && !isMembers(given)) {
    return { error: invalidParams('arguments', 'must be an object') }
  }
  const said = isMembers(meta) ? meta : undefined
  const { token, trace, reason } = saidIn(said)
  const fault = reason === undefined ? null : agentReasonFault(reason)
  if (fault !== null) return { error: invalidParams(`_meta["${reasonKey}"]`, fault) }
  // The answer that the client reads is about the call that it names, as if it had called that directly.
  const sent = { capability: capabilityName(name), arguments: given ?? {} }
  const called = unreadable ? { ...sent, unreadable } : sent
  const named = namedCall(called)
  return {
    name: named === called ? name : toolName(named.capability),
    arguments: named.arguments as Members,
    unreadable: named.unreadable,
    progressToken: token,
    trace,
    agent_reason: reason === '' ? undefined : (reason as string | undefined),
    meta: said,
  }
}

const resultText = (idText: string, result: string): string =>
  `{"jsonrpc":"2.0","id":${idText},"result":${result}}`

export const errorText = (id: RpcId, error: RpcErrorObject): string =>
  JSON.stringify({ jsonrpc: '2.0', id, error })

const pageText = ({ entries, nextCursor }: ToolPage): string => {
  const tools = entries.map(({ json }) => json).join(',')
  return nextCursor === null
    ? `{"tools":[${tools}]}`
    : `{"tools":[${tools}],"nextCursor":${JSON.stringify(nextCursor)}}`
}

const toolText = (deps: McpDeps, id: RpcId, outcome: AnsweredTool): string => {
  if ('error' in outcome) return errorText(id, outcome.error)
  const text = resultText(JSON.stringify(id), jsonOfResult(outcome.result))
  if (text.length <= deps.resultBytesMax) return text
  const tooLarge = new GatehouseError('ResultTooLarge', {
    size_bytes: text.length,
    limit_bytes: deps.resultBytesMax,
  })
  return resultText(JSON.stringify(id), JSON.stringify(failedTool(tooLarge, deps.names)))
}

/** A message of a server's log, as its client is told of it. */
export const logNotification = (params: LogMessage) => ({
  jsonrpc: '2.0' as const,
  method: 'notifications/message' as const,
  params,
})

const setLogLevel = (call: McpCall, id: RpcId, params: unknown): string => {
  const level = isMembers(params) ? params['level'] : undefined
  if (!isLogLevel(level))
    return errorText(id, invalidParams('level', `must be one of ${logLevels.join(', ')}`))
  call.setLogLevel?.(level)
  return resultText(JSON.stringify(id), '{}')
}

const answerToolsCall = async (
  deps: McpDeps,
  call: McpCall,
  { id, params, unreadable }: Request,
  requestId: string,
): Promise<string> => {
  const read = readToolCall(params, unreadable)
  if ('error' in read) return errorText(id, read.error)
  const { progressToken } = read
  const { notify } = call
  let answered = false
  const { logLevel: level } = call
  const logs: Logs | undefined = level &&
    notify && {
      level,
      tell(params) {
        if (!answered) notify(JSON.stringify(logNotification(params)))
      },
    }
  const tell =
    progressToken === undefined || notify === undefined
      ? undefined
      : (progress: Progress) => {
          if (answered) return
          const params = { progressToken, ...progress }
          notify(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/progress', params }))
        }
  try {
    const outcome = await callTool(deps, call, requestId, logs ? { ...read, logs } : read, tell)
    const room = call.room?.()
    // An answer that nobody reads is not even made into text: many large ones may wait here.
    if (room && !(await room)) return ''
    const text = toolText(deps, id, outcome)
    call.deliver?.(text)
    return text
  } finally {
    answered = true
  }
}

const answerToolsList = async (
  deps: McpDeps,
  call: McpCall,
  id: RpcId,
  params: unknown,
): Promise<string> => {
  const cursor = isMembers(params) ? params['cursor'] : undefined
  if (cursor !== undefined && typeof cursor !== 'string') {
    return errorText(id, invalidParams('cursor', 'must be a string'))
  }
  const page = await listTools(deps, call, cursor)
  return page === null
    ? errorText(id, invalidParams('cursor', 'is none of ours'))
    : resultText(JSON.stringify(id), pageText(page))
}

const answerClientFeature = async (
  deps: McpDeps,
  call: McpCall,
  method: ClientFeature,
  { id, params }: Request,
  requestId: string,
): Promise<string> => {
  const op = opOfCall(call, requestId)
  if (!hasFeature(await deps.app.offeredFeatures(op), method)) return methodNotFound(id, method)
  const given = isMembers(params) ? params : {}
  const answer = await answerFeature(deps, op, method, given)
  if ('error' in answer) return errorText(id, answer.error)
  return resultText(JSON.stringify(id), JSON.stringify(answer.result))
}

const answerSubscribing = async (
  deps: McpDeps,
  call: McpCall,
  method: SubscriptionMethod,
  { id, params }: Request,
  requestId: string,
): Promise<string> => {
  const { session_id, push } = call
  const op = opOfCall(call, requestId)
  if (!(await deps.app.offeredFeatures(op)).subscriptions) return methodNotFound(id, method)
  if (session_id === null || !push) {
    const detail = `${method} belongs to a session: name it in Mcp-Session-Id`
    return errorText(id, rpcError('InvalidRequest', { detail }))
  }
  const asked = { method, params: isMembers(params) ? params : {} }
  const answer = await answerSubscription(deps, op, asked, { session_id, push })
  return 'error' in answer
    ? errorText(id, answer.error)
    : resultText(JSON.stringify(id), JSON.stringify(answer.result))
}

const methodNotFound = (id: RpcId, method: string): string =>
  errorText(id, rpcError('MethodNotFound', { method: method.slice(0, 64) }))

/** Answer of the method; null where there is no such method. */
const answererOf = (
  deps: McpDeps,
  call: McpCall,
  request: Request,
): (() => string | Promise<string>) | null => {
  const { id, method, params } = request
  const described = (answer: (requestId: string) => Promise<string>) => async () => {
    const requestId = deps.ids.next('req')
    try {
      return await answer(requestId)
    } catch (thrown) {
      return errorText(id, describeThrown(thrown, requestId, deps.log).error)
    }
  }
  switch (method) {
    case 'tools/call':
      return described((requestId) => answerToolsCall(deps, call, request, requestId))
    case 'tools/list':
      return described(() => answerToolsList(deps, call, id, params))
    case 'ping':
      return () => resultText(JSON.stringify(id), '{}')
    case 'logging/setLevel':
      return () => setLogLevel(call, id, params)
    default:
      if (isSubscriptionMethod(method))
        return described((requestId) => answerSubscribing(deps, call, method, request, requestId))
      if (isClientFeature(method))
        return described((requestId) => answerClientFeature(deps, call, method, request, requestId))
      return null
  }
}

/** Answers one request of an opened peer: everything but `initialize`, which its carrier knows. */
export const answerRequest = async (
  deps: McpDeps,
  call: McpCall,
  request: Request,
): Promise<string> => {
  const { id, method, params } = request
  const answer = answererOf(deps, call, request)
  if (!answer) return methodNotFound(id, method)
  // Null is what some clients send for none.
  const isNamed = params === undefined || params === null || isMembers(params)
  return isNamed ? answer() : errorText(id, invalidParams('params', 'must be an object'))
}

/** An id that MCP allows: a string or an integer, never null. */
export const isMcpId = (id: RpcId): id is string | number =>
  typeof id === 'string' || (typeof id === 'number' && Number.isSafeInteger(id))
