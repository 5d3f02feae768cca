import { GatehouseError } from '@gatehouse/contract'
import { parseStored } from '../../domain/parse-stored.ts'
import type { AgentMessages, NewMessage } from '../../ports/capability.ts'
import type { MessagePriority, StoredMessage } from '../../ports/messages.ts'
import type { Basics } from '../call/basics.ts'
import type { Call } from '../call/call.ts'

const messageBytesMax = 65_536
const mailboxMax = 1_000
const recipientsMax = 1_000
const subscriptionsMax = 100
/** One answer carries at most this much text: what does not fit waits for the next. */
const receivedCharsMax = 1_048_576
/** Small ones travel with the event that announces them. */
const announcedCharsMax = 1_024

const priorityOf = { low: 0, normal: 1, high: 2 } as const
const priorityName = ['low', 'normal', 'high'] as const

export type MessageDeps = Pick<Basics, 'storage' | 'clock' | 'ids' | 'events'>

const bodyOf = (message: NewMessage['message']): string => {
  const text = JSON.stringify(message)
  const size_bytes = new TextEncoder().encode(text).length
  if (size_bytes > messageBytesMax)
    throw new GatehouseError('MessageTooLarge', { size_bytes, limit_bytes: messageBytesMax })
  return text
}

const messageRecord = (stored: StoredMessage) => ({
  message_id: stored.id,
  from: stored.sender,
  channel: stored.channel,
  priority: priorityName[stored.priority],
  message: parseStored<NewMessage['message']>(stored.body_json, 'messages.body_json'),
  sent_at: new Date(stored.sent_ms).toISOString(),
  expires_at: new Date(stored.expires_ms).toISOString(),
})

/** Messages from one agent to others, and those that wait for it. */
export const bindMessages = (deps: MessageDeps, call: Call): AgentMessages => {
  const { storage, clock, ids, events } = deps
  const me = call.agent.name

  const draft = (input: NewMessage, channel: string | null): StoredMessage => {
    const sent_ms = clock.wall()
    return {
      id: ids.next('msg'),
      sender: me,
      channel,
      priority: priorityOf[input.priority] satisfies MessagePriority,
      body_json: bodyOf(input.message),
      sent_ms,
      expires_ms: sent_ms + input.ttl_seconds * 1000,
    }
  }

  /** Agents whose mailbox is full. */
  const findFull = async (
    { messages }: Pick<typeof storage, 'messages'>,
    recipients: readonly string[],
    nowMs: number,
  ): Promise<readonly string[]> => {
    const waiting = await messages.waiting(recipients, nowMs)
    return recipients.filter((agent) => (waiting.get(agent) ?? 0) >= mailboxMax)
  }

  /** Stores it for everyone with room; those without are left out, and are named by the answer. */
  const deliver = async (message: StoredMessage, recipients: readonly string[]) => {
    const full = await storage.transaction(async (tx) => {
      const none = await findFull(tx, recipients, message.sent_ms)
      const room = recipients.filter((agent) => !none.includes(agent))
      if (room.length > 0) await tx.messages.insert(message, room)
      return new Set(none)
    })
    const { message: body, ...announced } = messageRecord(message)
    const data =
      message.body_json.length <= announcedCharsMax ? { ...announced, message: body } : announced
    for (const agent of recipients)
      if (!full.has(agent)) events.publish({ type: 'message.received', agent, data })
    return full
  }

  const reachable = async (): Promise<readonly string[]> =>
    (await storage.agents.list())
      .filter(({ name, status }) => status !== 'revoked' && name !== me)
      .map(({ name }) => name)

  const recipientsOf = async ({
    channel,
    agents,
  }: Parameters<AgentMessages['recipients']>[0]): Promise<readonly string[]> => {
    const subscribed =
      channel === undefined ? null : await storage.subscriptions.subscribers(channel)
    const recipients = (await reachable()).filter(
      (name) => (agents?.includes(name) ?? true) && (subscribed?.includes(name) ?? true),
    )
    if (recipients.length > recipientsMax)
      throw new GatehouseError('QuotaExceeded', {
        limit: recipientsMax,
        what: 'recipients of one broadcast',
      })
    return recipients
  }

  const waitingFor = ({ limit, channel }: Parameters<AgentMessages['peek']>[0]) => ({
    nowMs: clock.wall(),
    limit,
    ...(channel === undefined ? {} : { channel }),
  })

  return {
    async recipients(filter) {
      const recipients = await recipientsOf(filter)
      const full = recipients.length === 0 ? [] : await findFull(storage, recipients, clock.wall())
      return { recipients, full }
    },

    async peek(filter) {
      const { messages, total } = await storage.messages.listFor(me, waitingFor(filter))
      return { messages: messages.map(messageRecord), total }
    },

    async channelOf(subscription_id) {
      const mine = await storage.subscriptions.listOf(me)
      const found = mine.find(({ id }) => id === subscription_id)
      if (!found) throw new GatehouseError('SubscriptionNotFound', { subscription_id })
      return found.channel
    },

    async send(to, input) {
      const agent = await storage.agents.find(to)
      if (!agent) throw new GatehouseError('AgentNotFound', { agent: to })
      if (agent.status === 'revoked') {
        const detail = 'it receives no messages'
        throw new GatehouseError('AgentStateConflict', { agent: to, status: agent.status, detail })
      }
      const message = draft(input, null)
      const full = await deliver(message, [to])
      if (full.size > 0) throw new GatehouseError('MailboxFull', { agent: to, limit: mailboxMax })
      return { message_id: message.id, status: 'queued' }
    },

    async broadcast(filter, input) {
      const message = draft(input, filter.channel ?? null)
      const recipients = await recipientsOf(filter)
      const full = recipients.length === 0 ? new Set() : await deliver(message, recipients)
      const queued = recipients.length - full.size
      return {
        message_id: queued > 0 ? message.id : null,
        recipients: recipients.length,
        queued,
        full: full.size,
      }
    },

    async subscribe(channel) {
      const subscription = { id: ids.next('sub'), agent: me, channel, created_ms: clock.wall() }
      const stored = await storage.transaction(async (tx) => {
        const mine = await tx.subscriptions.listOf(me)
        const known = mine.find((s) => s.channel === channel)
        if (known) return known
        if (mine.length >= subscriptionsMax)
          throw new GatehouseError('QuotaExceeded', {
            limit: subscriptionsMax,
            what: 'subscriptions',
          })
        return tx.subscriptions.insert(subscription)
      })
      return { subscription_id: stored.id, channel }
    },

    async unsubscribe(subscription_id) {
      if (!(await storage.subscriptions.remove(subscription_id, me)))
        throw new GatehouseError('SubscriptionNotFound', { subscription_id })
      return { subscription_id, removed: true }
    },

    async receive({ limit, channel, acknowledge }) {
      const filter = waitingFor({ limit, channel })
      return storage.transaction(async (tx) => {
        const { messages, total } = await tx.messages.listFor(me, filter)
        let chars = 0
        const fitting = messages.filter(({ body_json }, i) => {
          chars += body_json.length
          return i === 0 || chars <= receivedCharsMax
        })
        // @SECURITY Two receivers at once get each message once: taking is in the same transaction; comms.test.ts.
        if (acknowledge)
          await tx.messages.acknowledge(
            me,
            fitting.map(({ id }) => id),
          )
        const remaining = total - (acknowledge ? fitting.length : 0)
        return { messages: fitting.map(messageRecord), remaining }
      })
    },
  }
}
