import { GatehouseError, type RpcErrorObject, rpcCodes } from '@gatehouse/contract'
import type { AgentOp } from '../../app/call/op.ts'
import type {
  FeatureOutcome,
  ListMethod,
  OfferedFeatures,
  UseFeature,
} from '../../app/upstreams/features.ts'
import { rpcError } from '../http/describe-thrown.ts'
import { isMembers, type Members } from '../http/envelope.ts'
import { type Answered, refusedOutcome } from '../http/outcome.ts'
import type { McpCall, McpDeps } from './mcp-call.ts'

/** Member of the answer to each listing. */
const listMembers: Readonly<Record<ListMethod, string>> = {
  'prompts/list': 'prompts',
  'resources/list': 'resources',
  'resources/templates/list': 'resourceTemplates',
}

const families: Readonly<
  Record<ListMethod | UseFeature['method'], Exclude<keyof OfferedFeatures, 'changingLists'>>
> = {
  'prompts/list': 'prompts',
  'prompts/get': 'prompts',
  'resources/list': 'resources',
  'resources/templates/list': 'resources',
  'resources/read': 'resources',
  'completion/complete': 'completions',
}

export type ClientFeature = keyof typeof families

/** Methods for clients that use more than tools. */
export const clientFeatures = Object.keys(families) as readonly ClientFeature[]

export const isClientFeature = (method: unknown): method is ClientFeature =>
  typeof method === 'string' && Object.hasOwn(families, method)

export const isListing = (method: ClientFeature): method is ListMethod =>
  Object.hasOwn(listMembers, method)

/** Whether what is offered has this method. */
export const hasFeature = (offered: OfferedFeatures, method: ClientFeature): boolean =>
  offered[families[method]]

/** Declared features: nothing where no server that the agent may use has any. */
export const capabilitiesOf = ({
  subscriptions,
  changingLists,
  ...offered
}: OfferedFeatures): Members =>
  Object.fromEntries(
    Object.entries(offered)
      .filter(([, isOffered]) => isOffered)
      .map(([family]) => [
        family,
        {
          ...(family === 'resources' && subscriptions ? { subscribe: true } : {}),
          ...(changingLists.some((list) => list === family) ? { listChanged: true } : {}),
        },
      ]),
  )

const wrong = (member: string, detail: string): { readonly error: RpcErrorObject } => ({
  error: rpcError('InvalidParams', { detail: `${member} ${detail}`, member }),
})

const readUse = (
  method: UseFeature['method'],
  params: Members,
): UseFeature | { readonly error: RpcErrorObject } => {
  const { name, uri, ref, argument, context, arguments: given } = params
  switch (method) {
    case 'prompts/get':
      return typeof name === 'string'
        ? { method, name, arguments: given }
        : wrong('name', 'must be a string')
    case 'resources/read':
      return typeof uri === 'string' ? { method, uri } : wrong('uri', 'must be a string')
    case 'completion/complete':
      return isMembers(ref) && isMembers(argument)
        ? { method, ref, argument, context }
        : wrong(isMembers(ref) ? 'argument' : 'ref', 'must be an object')
  }
}

const failure = (
  use: UseFeature,
  outcome: Exclude<FeatureOutcome, { readonly kind: 'answered' }>,
): RpcErrorObject => {
  switch (outcome.kind) {
    case 'absent':
      return use.method === 'resources/read'
        ? {
            code: rpcCodes.invalidParams,
            message: `There is no resource ${use.uri.slice(0, 200)}`,
            data: { uri: use.uri },
          }
        : rpcError('InvalidParams', {
            detail: 'no server here has it',
            member: use.method === 'prompts/get' ? 'name' : 'ref',
          })
    case 'failed': {
      const { type, message, recovery } = outcome.error
      if (type !== 'InvalidArguments')
        return { code: rpcCodes.internalError, message, data: { type, recovery } }
      return use.method === 'resources/read'
        ? { code: rpcCodes.invalidParams, message, data: { uri: use.uri } }
        : { code: rpcCodes.invalidParams, message, data: { type, recovery } }
    }
    case 'pending': {
      const { message } = outcome.pending
      return { code: rpcCodes.approvalRequired, message, data: outcome.pending }
    }
    default:
      return refusedOutcome(outcome)
  }
}

/** Error of one feature, as its client is told. A failure of the server stays one, whichever way it reaches us. */
const failureOf = (use: UseFeature, thrown: unknown): RpcErrorObject => {
  if (!(thrown instanceof GatehouseError) || thrown.entry.rpc !== null) throw thrown
  const { type, message, recovery } = thrown
  return failure(use, { kind: 'failed', error: { type, message, recovery: [...recovery] } })
}

const withinLimit = (answer: Answered<Members>, limit_bytes: number): Answered<Members> => {
  const size_bytes = JSON.stringify(answer).length
  return size_bytes <= limit_bytes
    ? answer
    : { error: rpcError('ResultTooLarge', { size_bytes, limit_bytes }) }
}

/** Lists or uses what upstream servers have beside tools. Raises what the gate raises. */
export const answerFeature = async (
  { app, names, resultBytesMax }: Pick<McpDeps, 'app' | 'names' | 'resultBytesMax'>,
  op: AgentOp,
  method: ClientFeature,
  params: Members,
): Promise<Answered<Members>> => {
  if (isListing(method)) {
    if (params['cursor'] !== undefined) return wrong('cursor', 'is none of ours')
    const items = await app.listFeatures(op, { method })
    return withinLimit({ result: { [listMembers[method]]: items } }, resultBytesMax)
  }
  const use = readUse(method, params)
  if ('error' in use) return use
  try {
    const outcome = await app.useFeature(op, use)
    if (outcome.kind === 'answered') return withinLimit({ result: outcome.result }, resultBytesMax)
    const error = failure(use, outcome)
    return { error: { ...error, message: names.text(error.message) } }
  } catch (thrown) {
    return { error: failureOf(use, thrown) }
  }
}

const subscriptionMethods = ['resources/subscribe', 'resources/unsubscribe'] as const

export type SubscriptionMethod = (typeof subscriptionMethods)[number]

export const isSubscriptionMethod = (method: string): method is SubscriptionMethod =>
  (subscriptionMethods as readonly string[]).includes(method)

/** Tells a client that a resource has changed, by the address that it knows. */
export const changedResource = (uri: string) => ({
  method: 'notifications/resources/updated',
  params: { uri },
})

/** Begins or ends to tell a session of the changes of a resource. Raises what the gate raises. */
export const answerSubscription = async (
  { app, names }: Pick<McpDeps, 'app' | 'names'>,
  op: AgentOp,
  { method, params }: { readonly method: SubscriptionMethod; readonly params: Members },
  {
    session_id,
    push,
  }: { readonly session_id: string; readonly push: NonNullable<McpCall['push']> },
): Promise<Answered<Members>> => {
  const { uri } = params
  if (typeof uri !== 'string') return wrong('uri', 'must be a string')
  if (method === 'resources/unsubscribe') {
    await app.unsubscribeResource(op, { session_id, uri })
    return { result: {} }
  }
  const use = { method: 'resources/read', uri } as const
  try {
    const changed = () => push(JSON.stringify({ jsonrpc: '2.0', ...changedResource(uri) }))
    const outcome = await app.subscribeResource(op, { session_id, uri }, { changed })
    if (outcome.kind === 'watched') return { result: {} }
    const error = failure(use, outcome)
    return { error: { ...error, message: names.text(error.message) } }
  } catch (thrown) {
    return { error: failureOf(use, thrown) }
  }
}
