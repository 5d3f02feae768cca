import { GatehouseError, type Logs } from '@gatehouse/contract'
import {
  MissingRequiredClientCapabilityError,
  ProtocolError,
  type Result,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { Hold } from '../../../app/call/hold.ts'
import type { OfferedFeatures } from '../../../app/upstreams/features.ts'
import { describeThrown } from '../../http/describe-thrown.ts'
import { TransportOp } from '../../http/transport-op.ts'
import {
  answerFeature,
  type ClientFeature,
  capabilitiesOf,
  clientFeatures,
  hasFeature,
  isClientFeature,
  isListing,
} from '../features.ts'
import { type McpCall, opOfCall } from '../mcp-call.ts'
import {
  callTool,
  invalidParams,
  listTools,
  logNotification,
  type Progress,
  readToolCall,
  serverInfo,
  serverInstructions,
} from '../peer.ts'
import { type AnsweredTool, failedTool, type ToolResult } from '../tools.ts'
import { tasksExtension } from './client-said.ts'
import { answerReturned, elicitDecision, holdMaxMs } from './elicit-decision.ts'
import { eventsExtension } from './listen.ts'
import { inSession, type ModernCall, type ModernRequest, opOf } from './modern-request.ts'
import { answerTask, taskOf } from './tasks.ts'

/** How long a client may trust a list that it was not told has changed. */
const listTtlMs = 5_000

const failed = (error: { code: number; message: string; data?: unknown }): ProtocolError =>
  new ProtocolError(error.code, error.message, error.data)

export const withoutTasks = (): ProtocolError =>
  new MissingRequiredClientCapabilityError({
    requiredCapabilities: { extensions: { [tasksExtension]: {} } },
  })

/** A result that is no larger than answers may be, or the failure that says so. */
export const bounded =
  ({ deps }: ModernRequest) =>
  (result: ToolResult): ToolResult => {
    const size_bytes = JSON.stringify(result).length
    const limit_bytes = deps.resultBytesMax
    if (size_bytes <= limit_bytes) return result
    const error = new GatehouseError('ResultTooLarge', { size_bytes, limit_bytes })
    return failedTool(error, deps.names)
  }

/** Params as they came: what a handler needs of them it reads from the request. */
const anyParams = {
  params: {
    '~standard': { version: 1, vendor: 'gatehouse', validate: (value: unknown) => ({ value }) },
  },
} as const

/** The SDK's server for one request, with answers that are ours from the first byte to the last. */
class ModernServer extends Server {
  /** The SDK would check and complete each result as that of a call that has ended; some are tasks. */
  protected override _wrapHandler(
    method: string,
    handler: Parameters<Server['_wrapHandler']>[1],
  ): Parameters<Server['_wrapHandler']>[1] {
    return method === 'tools/call' ? handler : super._wrapHandler(method, handler)
  }
}

/** Answers in the session of the client; what goes wrong is told as everywhere. */
const answered = async (
  request: ModernRequest,
  answer: (call: ModernCall) => Promise<unknown>,
): Promise<Result> => {
  const { ids, log } = request.deps
  const requestId = ids.next('req')
  try {
    return (await answer(await inSession(request, requestId))) as Result
  } catch (thrown) {
    if (thrown instanceof ProtocolError) throw thrown
    throw failed(describeThrown(thrown, requestId, log).error)
  }
}

const mcpCallOf = (call: ModernCall): McpCall => {
  const { deps, exchange, session_id, held, client } = call
  const { actor, gone } = exchange
  // A client that can follow the request by itself is answered at once.
  const follows = client.tasks || (client.elicitsUrl && deps.page() !== null)
  const hold = follows ? {} : { hold: new Hold(deps.stops, holdMaxMs) }
  return { actor, session_id, cancellation: exchange, held, gone, ...hold }
}

const answerClientFeature = async (call: ModernCall, method: ClientFeature): Promise<unknown> => {
  const op = opOfCall(mcpCallOf(call), call.requestId)
  const answer = await answerFeature(call.deps, op, method, call.params)
  if ('error' in answer) throw failed(answer.error)
  const isCached = isListing(method) || method === 'resources/read'
  return isCached
    ? { ...answer.result, ttlMs: isListing(method) ? listTtlMs : 0, cacheScope: 'private' }
    : answer.result
}

const answerList = async (call: ModernCall): Promise<unknown> => {
  const { cursor } = call.params
  if (cursor !== undefined && typeof cursor !== 'string')
    throw failed(invalidParams('cursor', 'must be a string'))
  const page = await listTools(call.deps, mcpCallOf(call), cursor)
  if (page === null) throw failed(invalidParams('cursor', 'is none of ours'))
  const tools = page.entries.map(({ annotated }) => annotated)
  const cached = { ttlMs: listTtlMs, cacheScope: 'private' }
  return page.nextCursor === null
    ? { tools, ...cached }
    : { tools, nextCursor: page.nextCursor, ...cached }
}

/** The answer to a call that waits for a person, in the best way that its client has declared. */
const answerPending = async (
  call: ModernCall,
  read: Parameters<typeof elicitDecision>[1],
  outcome: Extract<AnsweredTool, { readonly result: ToolResult }>,
): Promise<unknown> => {
  const { deps, client } = call
  const { pending, result } = outcome
  if (!pending) return bounded(call)(result)
  if (!client.tasks) return (await elicitDecision(call, read, pending)) ?? result
  const { approval_id } = pending
  const look = { approval_id, deliver: false }
  const followed = await deps.app.followApproval(opOf(call), look)
  return { resultType: 'task', ...taskOf(followed, deps.names) }
}

const answerCall = async (call: ModernCall, ctx: ServerContext): Promise<unknown> => {
  const { deps, params, unreadable, requestId, client } = call
  const read = readToolCall(params, unreadable)
  if ('error' in read) throw failed(read.error)
  const { progressToken } = read
  const tell =
    progressToken === undefined
      ? undefined
      : (progress: Progress) => {
          const told = { progressToken, ...progress }
          const params = told as { progressToken: string | number; progress: number }
          void ctx.mcpReq.notify({ method: 'notifications/progress', params }).catch(() => {})
        }
  const { logLevel: level } = client
  const logs: Logs | undefined =
    level === null
      ? undefined
      : {
          level,
          tell: (message) =>
            void ctx.mcpReq.notify(logNotification(message) as never).catch(() => {}),
        }
  const outcome =
    params['requestState'] === undefined
      ? await callTool(deps, mcpCallOf(call), requestId, { ...read, logs }, tell)
      : await answerReturned(call, read, tell)
  if ('error' in outcome) throw failed(outcome.error)
  return answerPending(call, read, outcome)
}

const nothing: OfferedFeatures = {
  prompts: false,
  resources: false,
  subscriptions: false,
  changingLists: [],
  completions: false,
  logging: false,
}

/** Features that are offered beside tools, for requests that have to do with it. */
const featuresFor = (request: ModernRequest, method: unknown): Promise<OfferedFeatures> => {
  const isAsked =
    method === 'server/discover' || method === 'subscriptions/listen' || isClientFeature(method)
  if (!isAsked) return Promise.resolve(nothing)
  const { app, ids } = request.deps
  const { exchange, held } = request
  const who = { actor: exchange.actor, session_id: null, held }
  return app.offeredFeatures(new TransportOp(who, ids.next('req'), exchange, {}))
}

/** The server for one request; what the tools are and do is the same as everywhere. */
export const modernServer = async (request: ModernRequest, method: unknown): Promise<Server> => {
  const { app } = request.deps
  const offered = await featuresFor(request, method)
  const { name, title, version } = serverInfo(app)
  const server = new ModernServer(
    { name, title, version },
    {
      capabilities: {
        tools: { listChanged: true },
        ...capabilitiesOf(offered),
        // The SDK lets a server without it write to no log.
        ...(request.client.logLevel === null ? {} : { logging: {} }),
        extensions: { [tasksExtension]: {}, [eventsExtension]: {} },
      },
      instructions: serverInstructions,
    },
  )
  server.setRequestHandler('tools/list', anyParams, () => answered(request, answerList))
  server.setRequestHandler('tools/call', anyParams, (_params, ctx) =>
    answered(request, (call) => answerCall(call, ctx)),
  )
  for (const feature of clientFeatures)
    if (hasFeature(offered, feature))
      server.setRequestHandler(feature, anyParams, () =>
        answered(request, (call) => answerClientFeature(call, feature)),
      )
  for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel'] as const) {
    server.setRequestHandler(method, anyParams, () => {
      if (!request.client.tasks) throw withoutTasks()
      return answered(request, async (call) => {
        const answer = await answerTask(call, method, bounded(call))
        if ('error' in answer) throw failed(answer.error)
        return answer.result
      })
    })
  }
  return server
}
