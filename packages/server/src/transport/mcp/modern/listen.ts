import type { ServerResponse } from 'node:http'
import { GatehouseError, type GatehouseEvent, type RpcErrorObject } from '@gatehouse/contract'
import type { FollowedApproval } from '../../../app/approvals/follow-approval.ts'
import { isMembers, type Members } from '../../http/envelope.ts'
import type { Refusal } from '../../http/respond.ts'
import { notificationOf } from '../notifications.ts'
import { invalidParams } from '../peer.ts'
import { PushStream } from '../push-streams.ts'
import type { ToolResult } from '../tools.ts'
import { type ModernCall, opOf } from './modern-request.ts'
import { detailedTaskOf } from './tasks.ts'

/** The events of an agent beside changed tools, as an extension that clients ask for by name. */
export const eventsExtension = 'gatehouse/events'

const subscriptionKey = 'io.modelcontextprotocol/subscriptionId'
const eventKey = 'gatehouse/eventId'
const taskIdsMax = 100
const eventIdMax = 64

type Filter = {
  readonly tools: boolean
  readonly taskIds: readonly string[]
  readonly events: boolean
  /** The last event that the client has. */
  readonly after: string | null
}

const isText = (value: unknown, lengthMax: number): value is string =>
  typeof value === 'string' && value.length <= lengthMax

const readTaskIds = (value: unknown): readonly string[] | null => {
  if (value === undefined) return []
  if (!Array.isArray(value) || value.length > taskIdsMax) return null
  return value.every((id) => isText(id, eventIdMax)) ? [...new Set(value as string[])] : null
}

/** Notifications that a client asks for. Kinds that the gate does not know are left out, as the protocol has it. */
const readFilter = (params: Members): Filter | { readonly error: RpcErrorObject } => {
  const asked = isMembers(params['notifications']) ? params['notifications'] : {}
  const taskIds = readTaskIds(asked['taskIds'])
  if (taskIds === null) {
    const detail = `must be a list of at most ${taskIdsMax} task ids`
    return { error: invalidParams('notifications.taskIds', detail) }
  }
  const events = asked[eventsExtension]
  const after = isMembers(events) ? events['after'] : undefined
  if (after !== undefined && !isText(after, eventIdMax)) {
    return { error: invalidParams(`notifications["${eventsExtension}"].after`, 'must be an id') }
  }
  return {
    tools: asked['toolsListChanged'] === true,
    taskIds,
    events: events === true || isMembers(events),
    after: after ?? null,
  }
}

/** The approval of a task, or null where the agent has none of that id. */
const findTask = async (
  call: ModernCall,
  approval_id: string,
): Promise<FollowedApproval | null> => {
  try {
    const look = { approval_id, deliver: false }
    return await call.deps.app.followApproval(opOf(call), look)
  } catch (thrown) {
    if (thrown instanceof GatehouseError && thrown.type === 'ApprovalNotFound') return null
    throw thrown
  }
}

const honouredOf = ({ tools, taskIds, events }: Filter): Members => ({
  ...(tools ? { toolsListChanged: true } : {}),
  ...(taskIds.length > 0 ? { taskIds } : {}),
  ...(events ? { [eventsExtension]: true } : {}),
})

/** One subscription: what of the agent's events goes out on it, and in which words. */
class Subscription {
  readonly #call: ModernCall
  readonly #id: unknown
  readonly #filter: Filter
  readonly #stream: PushStream
  readonly #bounded: (result: ToolResult) => ToolResult
  readonly #openTasks: Set<string>
  readonly #replayed = new Set<string>()
  /** Events before this subscription go out first. */
  #caughtUp: Promise<void> = Promise.resolve()

  constructor(
    call: ModernCall,
    id: unknown,
    filter: Filter,
    out: { readonly stream: PushStream; readonly bounded: (result: ToolResult) => ToolResult },
  ) {
    this.#call = call
    this.#id = id
    this.#filter = filter
    this.#stream = out.stream
    this.#bounded = out.bounded
    this.#openTasks = new Set(filter.taskIds)
  }

  /** The first message; nothing else may go out before it. With events it says after which one they begin. */
  acknowledge(): void {
    const method = 'notifications/subscriptions/acknowledged'
    const begin = this.#filter.events ? { [eventKey]: this.#call.deps.ids.next('evt') } : {}
    void this.#send(method, { notifications: honouredOf(this.#filter) }, begin)
  }

  /** Tells what the client missed, and of tasks that have ended. */
  catchUp(): Promise<void> {
    this.#caughtUp = this.#catchUp()
    return this.#caughtUp
  }

  async #catchUp(): Promise<void> {
    const { after, events, taskIds } = this.#filter
    if (events && after !== null) {
      const missed = await this.#call.deps.app.pollEvents(opOf(this.#call), {
        after,
        timeout_ms: 0,
      })
      for (const event of missed) {
        this.#replayed.add(event.id)
        await this.#write(event)
      }
    }
    for (const id of taskIds) await this.#tellTask(id)
  }

  /** Whether the event left for the client. */
  async tell(event: GatehouseEvent): Promise<boolean> {
    await this.#caughtUp.catch(() => undefined)
    return this.#replayed.delete(event.id) || (await this.#write(event))
  }

  async #write(event: GatehouseEvent): Promise<boolean> {
    if (event.type === 'tools.changed') return this.#filter.tools && (await this.#notify(event))
    const task =
      event.type === 'approval.resolved' &&
      (await this.#tellTask(String(event.data['approval_id'])))
    const told = this.#filter.events && (await this.#notify(event))
    return task || told
  }

  #notify(event: GatehouseEvent): boolean | Promise<boolean> {
    const { method, params } = notificationOf(event, this.#call.deps.names)
    return this.#send(method, params ?? {}, this.#filter.events ? { [eventKey]: event.id } : {})
  }

  /** A task is told of once, when it has ended. */
  async #tellTask(id: string): Promise<boolean> {
    if (!this.#openTasks.has(id)) return false
    const followed = await findTask(this.#call, id)
    if (!followed || (followed.result === null && followed.status !== 'cancelled')) return false
    if (!this.#openTasks.delete(id)) return false
    const task = detailedTaskOf(followed, this.#call.deps.names, this.#bounded)
    return this.#send('notifications/tasks', task)
  }

  #send(method: string, params: Members, meta: Members = {}): boolean | Promise<boolean> {
    const _meta = { [subscriptionKey]: this.#id, ...meta }
    const message = { jsonrpc: '2.0', method, params: { ...params, _meta } }
    return this.#stream.write(JSON.stringify(message))
  }
}

/** Answer of a subscription that this server ends by itself. */
const completeText = (id: unknown): string => {
  const result = { resultType: 'complete', _meta: { [subscriptionKey]: id } }
  return JSON.stringify({ jsonrpc: '2.0', id, result })
}

export type ListenRefused =
  | { readonly error: RpcErrorObject }
  | { readonly refusal: Refusal }
  | { readonly needsTasks: true }

/**
 * Serves `subscriptions/listen`, whose request the SDK has checked: its own streams know changed lists and
 * nothing else. Null once the stream is open; it lives until either side leaves.
 */
export const serveListen = async (
  call: ModernCall,
  res: ServerResponse,
  id: unknown,
  bounded: (result: ToolResult) => ToolResult,
): Promise<ListenRefused | null> => {
  const { deps, exchange, params } = call
  const asked = readFilter(params)
  if ('error' in asked) return asked
  if (isMembers(params['notifications']) && 'taskIds' in params['notifications']) {
    if (!call.client.tasks) return { needsTasks: true }
  }
  const taskIds: string[] = []
  for (const taskId of asked.taskIds) if (await findTask(call, taskId)) taskIds.push(taskId)
  if (res.destroyed) return null
  const stream = deps.streams.begin(res, exchange.actor, completeText(id))
  if (!(stream instanceof PushStream)) return { refusal: stream }
  const filter = { ...asked, taskIds }
  const subscription = new Subscription(call, id, filter, { stream, bounded })
  subscription.acknowledge()
  if (Object.keys(honouredOf(filter)).length === 0) {
    stream.end()
    return null
  }
  const events = deps.app.subscribeEvents(exchange.actor.name, (event) => subscription.tell(event))
  res.once('close', () => events[Symbol.dispose]())
  await subscription.catchUp()
  return null
}
