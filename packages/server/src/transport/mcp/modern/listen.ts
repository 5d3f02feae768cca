import type { ServerResponse } from 'node:http'
import { GatehouseError, type GatehouseEvent, type RpcErrorObject } from '@gatehouse/contract'
import type { FollowedApproval } from '../../../app/approvals/follow-approval.ts'
import { type ChangingLists, featureLists } from '../../../app/upstreams/features.ts'
import { isMembers, type Members } from '../../http/envelope.ts'
import type { Refusal } from '../../http/respond.ts'
import { changedResource } from '../features.ts'
import { changedListOf, notificationOf } from '../notifications.ts'
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
const resourcesMax = 100
const uriMax = 2_048

type Filter = {
  readonly tools: boolean
  /** Other lists whose changes it hears of. */
  readonly lists: ChangingLists
  readonly taskIds: readonly string[]
  /** Addresses of resources whose changes it hears of. */
  readonly resources: readonly string[]
  readonly events: boolean
  /** The last event that the client has. */
  readonly after: string | null
}

const isText = (value: unknown, lengthMax: number): value is string =>
  typeof value === 'string' && value.length <= lengthMax

const readTexts = (value: unknown, countMax: number, max: number): readonly string[] | null => {
  if (value === undefined) return []
  if (!Array.isArray(value) || value.length > countMax) return null
  return value.every((text) => isText(text, max)) ? [...new Set(value as string[])] : null
}

/** Notifications that a client asks for. Kinds that the gate does not know are left out, as the protocol has it. */
const readFilter = (params: Members): Filter | { readonly error: RpcErrorObject } => {
  const asked = isMembers(params['notifications']) ? params['notifications'] : {}
  const taskIds = readTexts(asked['taskIds'], taskIdsMax, eventIdMax)
  if (taskIds === null) {
    const detail = `must be a list of at most ${taskIdsMax} task ids`
    return { error: invalidParams('notifications.taskIds', detail) }
  }
  const resources = readTexts(asked['resourceSubscriptions'], resourcesMax, uriMax)
  if (resources === null) {
    const detail = `must be a list of at most ${resourcesMax} addresses`
    return { error: invalidParams('notifications.resourceSubscriptions', detail) }
  }
  const events = asked[eventsExtension]
  const after = isMembers(events) ? events['after'] : undefined
  if (after !== undefined && !isText(after, eventIdMax)) {
    return { error: invalidParams(`notifications["${eventsExtension}"].after`, 'must be an id') }
  }
  return {
    tools: asked['toolsListChanged'] === true,
    lists: featureLists.filter((list) => asked[`${list}ListChanged`] === true),
    taskIds,
    resources,
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

const honouredOf = ({ tools, lists, taskIds, resources, events }: Filter): Members => ({
  ...(tools ? { toolsListChanged: true } : {}),
  ...Object.fromEntries(lists.map((list) => [`${list}ListChanged`, true])),
  ...(taskIds.length > 0 ? { taskIds } : {}),
  ...(resources.length > 0 ? { resourceSubscriptions: resources } : {}),
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
    const list = changedListOf(event)
    if (list !== null) return this.#filter.lists.includes(list) && (await this.#notify(event))
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

  tellResource(uri: string): boolean | Promise<boolean> {
    const { method, params } = changedResource(uri)
    return this.#send(method, params)
  }

  #send(method: string, params: Members, meta: Members = {}): boolean | Promise<boolean> {
    const _meta = { [subscriptionKey]: this.#id, ...meta }
    const message = { jsonrpc: '2.0', method, params: { ...params, _meta } }
    return this.#stream.write(JSON.stringify(message))
  }
}

/** The watched resources of one subscription. They are told nothing before it has begun. */
class Watched {
  readonly #call: ModernCall
  readonly #all = new Map<string, Disposable>()
  #told: { readonly subscription: Subscription; readonly stream: PushStream } | null = null

  constructor(call: ModernCall) {
    this.#call = call
  }

  /** Leaves out what the agent may not hear of now: the protocol has no other answer for one of several. */
  async add(uris: readonly string[]): Promise<readonly string[]> {
    const { app, ids } = this.#call.deps
    for (const uri of uris) {
      const op = opOf({ ...this.#call, requestId: ids.next('req') })
      try {
        const outcome = await app.watchResource(op, { uri }, this.#listenerOf(uri))
        if (outcome.kind === 'watched') this.#all.set(uri, outcome)
      } catch (thrown) {
        if (!(thrown instanceof GatehouseError) || thrown.entry.rpc !== null) throw thrown
      }
    }
    return [...this.#all.keys()]
  }

  begin(subscription: Subscription, res: ServerResponse, stream: PushStream): void {
    this.#told = { subscription, stream }
    res.once('close', () => this.#end())
  }

  endUnlessBegun(): void {
    if (this.#told === null) this.#end()
  }

  #listenerOf(uri: string) {
    return {
      changed: () => this.#told?.subscription.tellResource(uri) ?? false,
      // The client learns by the end of the stream that it has to subscribe anew.
      ended: () => this.#told?.stream.end(),
    }
  }

  #end(): void {
    for (const watch of this.#all.values()) watch[Symbol.dispose]()
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
  const watched = new Watched(call)
  try {
    const { changingLists } = await deps.app.offeredFeatures(opOf(call))
    const filter = {
      ...asked,
      taskIds,
      lists: asked.lists.filter((list) => changingLists.includes(list)),
      resources: await watched.add(asked.resources),
    }
    if (res.destroyed) return null
    const stream = deps.streams.begin(res, exchange.actor, completeText(id))
    if (!(stream instanceof PushStream)) return { refusal: stream }
    const subscription = new Subscription(call, id, filter, { stream, bounded })
    subscription.acknowledge()
    if (Object.keys(honouredOf(filter)).length === 0) {
      stream.end()
      return null
    }
    watched.begin(subscription, res, stream)
    const events = deps.app.subscribeEvents(exchange.actor.name, (event) =>
      subscription.tell(event),
    )
    const session = deps.app.holdSession(opOf(call))
    res.once('close', () => {
      events[Symbol.dispose]()
      session[Symbol.dispose]()
    })
    await subscription.catchUp()
    return null
  } finally {
    watched.endUnlessBegun()
  }
}
