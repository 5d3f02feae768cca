import { pauseAfter, steadyMs, type Way } from './deliver.ts'
import { AnswerLost, NotSent } from './gateway.ts'
import { isMembers, modernHeaders, notificationText, type Request } from './message.ts'

const subscriptionKey = 'io.modelcontextprotocol/subscriptionId'
const eventsKey = 'gatehouse/events'
const eventKey = 'gatehouse/eventId'
const acknowledged = 'notifications/subscriptions/acknowledged'

type Told = { readonly [key: string]: unknown }

const changed: Readonly<Record<string, string>> = {
  toolsListChanged: 'notifications/tools/list_changed',
  promptsListChanged: 'notifications/prompts/list_changed',
  resourcesListChanged: 'notifications/resources/list_changed',
}

/** Everything that the client hears of has perhaps changed while nobody listened. */
const missed = ({ id }: Request, honoured: Told): readonly string[] => {
  const _meta = { [subscriptionKey]: id }
  const { resourceSubscriptions: uris } = honoured
  return [
    ...Object.entries(changed)
      .filter(([kind]) => honoured[kind] === true)
      .map(([, method]) => notificationText(method, { _meta })),
    ...(Array.isArray(uris) ? uris : []).map((uri: unknown) =>
      notificationText('notifications/resources/updated', { uri, _meta }),
    ),
  ]
}

const membersIn = (value: unknown, name: string): Told => {
  const inner = isMembers(value) ? value[name] : undefined
  return isMembers(inner) ? inner : {}
}

/** Notifications that the service has agreed to send. */
const honouredBy = (told: Told): Told => membersIn(told['params'], 'notifications')

const eventIn = (told: Told): string | null => {
  const id = membersIn(told['params'], '_meta')[eventKey]
  return typeof id === 'string' ? id : null
}

/** The client's request, or the same one from the last event on that it was told of. */
function bodyOf({ id, method, params, line }: Request, after: string | null): Buffer | string {
  const notifications = membersIn(params, 'notifications')
  if (after === null || !notifications[eventsKey]) return line
  const asked = { ...notifications, [eventsKey]: { after } }
  return JSON.stringify({ jsonrpc: '2.0', id, method, params: { ...params, notifications: asked } })
}

type Subscribed = {
  readonly hear: (text: string) => Promise<void>
  /** Text that ends the subscription: a refusal, or that there is nothing to tell of. */
  end(): string | null
  lastEvent(): string | null
}

function createSubscribed(request: Request, write: (text: string) => Promise<void>): Subscribed {
  let honoured: Told | null = null
  let ended: string | null = null
  let lastEvent: string | null = null
  return {
    end: () => ended,
    lastEvent: () => lastEvent,
    async hear(text) {
      const told = JSON.parse(text) as Told
      if (told['method'] === acknowledged) {
        const again = honoured !== null
        honoured = honouredBy(told)
        lastEvent ??= eventIn(told)
        // Events behind an acknowledgement of a later attempt may be older than it.
        lastEvent ??= eventIn(told)
        if (!again) return write(text)
        for (const text of missed(request, honoured)) await write(text)
      } else if ('error' in told) ended = text
      else if ('result' in told) {
        // Where something is told of, this is a service that stops, and the next one goes on.
        if (Object.keys(honoured ?? {}).length === 0) ended = text
      } else {
        lastEvent = eventIn(told) ?? lastEvent
        await write(text)
      }
    },
  }
}

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
  const subscribed = createSubscribed(request, write)
  const headers = modernHeaders(request)
  for (let attempt = 0; !signal.aborted; attempt += 1) {
    const startedMs = performance.now()
    try {
      const body = bodyOf(request, subscribed.lastEvent())
      const what = { method: 'POST', headers, body, signal } as const
      const { status, text } = await gateway.exchange(what, subscribed.hear)
      if (status !== 200 || text !== '') return { status, text }
      const ended = subscribed.end()
      if (ended !== null) return { status, text: ended }
    } catch (thrown) {
      if (!(thrown instanceof NotSent || thrown instanceof AnswerLost)) throw thrown
    }
    if (performance.now() - startedMs > steadyMs) attempt = 0
    await pauseAfter(attempt, signal)
  }
  return null
}
