import { pauseAfter, type Way } from './deliver.ts'
import { AnswerLost, NotSent } from './gateway.ts'
import { isMembers, modernHeaders, type Request } from './message.ts'

const subscriptionKey = 'io.modelcontextprotocol/subscriptionId'
const acknowledged = 'notifications/subscriptions/acknowledged'

type Told = { readonly [key: string]: unknown }

const toolsChanged = ({ id }: Request): string => {
  const params = { _meta: { [subscriptionKey]: id } }
  return JSON.stringify({ jsonrpc: '2.0', method: 'notifications/tools/list_changed', params })
}

const honoursTools = ({ params }: Told): boolean =>
  isMembers(params) &&
  isMembers(params['notifications']) &&
  params['notifications']['toolsListChanged'] === true

/**
 * A client's subscription, made anew whenever the service has gone and come back. The client hears
 * one acknowledgement, and afterwards that what it subscribed to may have changed. Answers with the text that ends
 * the subscription, where the service refuses it.
 */
export async function subscribe(
  { gateway }: Way,
  request: Request,
  signal: AbortSignal,
  write: (text: string) => Promise<void>,
): Promise<{ readonly status: number; readonly text: string } | null> {
  let isAcknowledged = false
  let refusal: string | null = null
  const hear = async (text: string): Promise<void> => {
    const told = JSON.parse(text) as Told
    if (told['method'] === acknowledged) {
      const again = isAcknowledged
      isAcknowledged = true
      if (!again) return write(text)
      if (honoursTools(told)) await write(toolsChanged(request))
    } else if ('error' in told) refusal = text
    // A result is the service that stops: the subscription goes on with the next one.
    else if (!('result' in told)) await write(text)
  }
  const headers = modernHeaders(request)
  for (let attempt = 0; !signal.aborted; attempt += 1) {
    try {
      const what = { method: 'POST', headers, body: request.line, signal } as const
      const { status, text } = await gateway.exchange(what, hear)
      if (status !== 200 || text !== '') return { status, text }
      if (refusal !== null) return { status, text: refusal }
      attempt = 0
    } catch (thrown) {
      if (!(thrown instanceof NotSent || thrown instanceof AnswerLost)) throw thrown
      if (thrown instanceof AnswerLost) attempt = 0
    }
    await pauseAfter(attempt, signal)
  }
  return null
}
