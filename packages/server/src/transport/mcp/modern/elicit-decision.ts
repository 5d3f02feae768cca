import type { PendingApproval } from '@gatehouse/contract'
import { Hold } from '../../../app/call/hold.ts'
import { isMembers, type Members } from '../../http/envelope.ts'
import { invalidParams, type Progress, progressOf, type ToolCall } from '../peer.ts'
import { type AnsweredTool, pendingResult, resultOfStored } from '../tools.ts'
import { type ModernCall, opOf } from './modern-request.ts'

/** Clients give up after a minute as a rule, and that would withdraw the request. */
export const holdMaxMs = 45_000
const requestKey = 'decide'

/** The link to the page on which a person decides; null where no page is served or nobody would see it. */
const linkTo = ({ deps, client }: ModernCall, approval_id: string): string | null => {
  const page = client.elicitsUrl ? deps.page() : null
  return page === null ? null : `${page}#approval=${approval_id}`
}

/** Asks the client to show its person the page on which to decide; null where it cannot. */
export const elicitDecision = async (
  call: ModernCall,
  { name, arguments: args }: ToolCall,
  { approval_id }: PendingApproval,
): Promise<Members | null> => {
  const url = linkTo(call, approval_id)
  if (url === null) return null
  const message = `A person has to approve this call of ${name}. Open the page, log in and decide.`
  const params = { mode: 'url', message, url }
  const sealed = { approval_id, call: { name, arguments: args } }
  return {
    resultType: 'input_required',
    inputRequests: { [requestKey]: { method: 'elicitation/create', params } },
    requestState: await call.deps.app.sealCall(opOf(call), sealed),
  }
}

/** Outcome of the link at the client: `cancel` is also the answer of one that nobody attends. */
const actionIn = (responses: unknown): unknown => {
  const response = isMembers(responses) ? responses[requestKey] : undefined
  return isMembers(response) ? response['action'] : 'accept'
}

/**
 * Answers a call that comes back with its state. What the client says of its person's answer decides
 * nothing: the approval is looked up again, and is what people made of it.
 * @SECURITY client-cannot-decide.test.ts
 */
export const answerReturned = async (
  call: ModernCall,
  { name, arguments: args }: ToolCall,
  tell: ((progress: Progress) => void) | undefined,
): Promise<AnsweredTool> => {
  const { deps, params, exchange } = call
  const seal = params['requestState']
  if (typeof seal !== 'string') return { error: invalidParams('requestState', 'must be a string') }
  const op = opOf(call)
  const approval_id = await deps.app.openCallSeal(op, { seal, call: { name, arguments: args } })
  const action = actionIn(params['inputResponses'])
  if (action === 'accept' || action === 'cancel') {
    const hold = new Hold(deps.stops, holdMaxMs)
    const waiting = opOf(call, { progress: tell && progressOf(tell) })
    await deps.app.holdForDecision(waiting, { approval_id, hold, isOpened: action === 'accept' })
  }
  // @SECURITY A token that was replaced while the call waited gets no result; client-cannot-decide.test.ts.
  const deliver = deps.app.stillValid(exchange.actor.name, exchange.actor.credential)
  const followed = await deps.app.followApproval(op, { approval_id, deliver })
  const result = deliver ? followed.result : null
  if (!result) return { result: pendingResult(followed.pending, deps.names) }
  return { result: resultOfStored({ ...followed, result }, deps.names) }
}
