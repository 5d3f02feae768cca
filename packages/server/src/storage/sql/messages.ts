import type {
  MessagePriority,
  MessageStore,
  StoredMessage,
  SubscriptionStore,
} from '../../ports/messages.ts'
import type { Db, MessagesTable, SubscriptionsTable } from './tables.ts'
import { decodeText, decodeTextOrNull, encodeText, encodeTextOrNull } from './text.ts'

/** Far below what either engine takes as parameters of one statement. */
const rowsAtOnce = 200

const chunked = <T>(all: readonly T[]): readonly (readonly T[])[] =>
  Array.from({ length: Math.ceil(all.length / rowsAtOnce) }, (_, i) =>
    all.slice(i * rowsAtOnce, (i + 1) * rowsAtOnce),
  )

const messageOf = (row: MessagesTable): StoredMessage => ({
  ...row,
  sender: decodeText(row.sender),
  channel: decodeTextOrNull(row.channel),
  priority: row.priority as MessagePriority,
  body_json: decodeText(row.body_json),
})

export const sqlMessages = ({ read, write }: Db): MessageStore => {
  /** A message is there as long as a mailbox holds it. */
  const dropUnheld = (ids: readonly string[]) =>
    write
      .deleteFrom('messages')
      .where('id', 'in', ids)
      .where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom('deliveries')
              .select('message_id')
              .whereRef('deliveries.message_id', '=', 'messages.id'),
          ),
        ),
      )
      .execute()

  return {
    async insert(message, recipients) {
      const { id: message_id, sent_ms, expires_ms } = message
      const channel = encodeTextOrNull(message.channel)
      await write
        .insertInto('messages')
        .values({
          ...message,
          sender: encodeText(message.sender),
          channel,
          body_json: encodeText(message.body_json),
        })
        .execute()
      const rank = 2 - message.priority
      for (const agents of chunked(recipients))
        await write
          .insertInto('deliveries')
          .values(
            agents.map((agent) => ({
              agent: encodeText(agent),
              message_id,
              channel,
              rank,
              sent_ms,
              expires_ms,
            })),
          )
          .execute()
    },

    async waiting(agents, nowMs) {
      const counts = new Map<string, number>()
      for (const names of chunked(agents)) {
        const rows = await read
          .selectFrom('deliveries')
          .select((eb) => ['agent', eb.fn.countAll<number>().as('waiting')])
          .where('agent', 'in', names.map(encodeText))
          .where('expires_ms', '>', nowMs)
          .groupBy('agent')
          .execute()
        for (const { agent, waiting } of rows) counts.set(decodeText(agent), waiting)
      }
      return counts
    },

    async listFor(agent, { channel, nowMs, limit }) {
      const matching = read
        .selectFrom('deliveries')
        .where('deliveries.agent', '=', encodeText(agent))
        .where('deliveries.expires_ms', '>', nowMs)
        .$if(channel !== undefined, (query) =>
          query.where('deliveries.channel', '=', encodeText(channel as string)),
        )
      const rows = await matching
        .innerJoin('messages', 'messages.id', 'deliveries.message_id')
        .selectAll('messages')
        .orderBy('deliveries.rank')
        .orderBy('deliveries.sent_ms')
        .orderBy('deliveries.message_id')
        .limit(limit)
        .execute()
      const { total } = await matching
        .select((eb) => eb.fn.countAll<number>().as('total'))
        .executeTakeFirstOrThrow()
      return { messages: rows.map(messageOf), total }
    },

    async acknowledge(agent, ids) {
      const taken: string[] = []
      for (const some of chunked(ids)) {
        const rows = await write
          .deleteFrom('deliveries')
          .where('agent', '=', encodeText(agent))
          .where('message_id', 'in', some)
          .returning('message_id')
          .execute()
        await dropUnheld(some)
        taken.push(...rows.map(({ message_id }) => message_id))
      }
      return taken
    },

    async prune(nowMs) {
      const expired = await write
        .deleteFrom('deliveries')
        .where('expires_ms', '<=', nowMs)
        .returning('message_id')
        .execute()
      for (const ids of chunked([...new Set(expired.map(({ message_id }) => message_id))]))
        await dropUnheld(ids)
    },
  }
}

const subscriptionOf = (row: SubscriptionsTable) => ({
  ...row,
  agent: decodeText(row.agent),
  channel: decodeText(row.channel),
})

export const sqlSubscriptions = ({ read, write }: Db): SubscriptionStore => ({
  async insert(subscription) {
    const agent = encodeText(subscription.agent)
    const channel = encodeText(subscription.channel)
    await write
      .insertInto('subscriptions')
      .values({ ...subscription, agent, channel })
      .onConflict((conflict) => conflict.columns(['agent', 'channel']).doNothing())
      .execute()
    const row = await write
      .selectFrom('subscriptions')
      .selectAll()
      .where('agent', '=', agent)
      .where('channel', '=', channel)
      .executeTakeFirstOrThrow()
    return subscriptionOf(row)
  },

  async remove(id, agent) {
    const { numDeletedRows } = await write
      .deleteFrom('subscriptions')
      .where('id', '=', encodeText(id))
      .where('agent', '=', encodeText(agent))
      .executeTakeFirstOrThrow()
    return numDeletedRows > 0n
  },

  async listOf(agent) {
    const rows = await read
      .selectFrom('subscriptions')
      .selectAll()
      .where('agent', '=', encodeText(agent))
      .orderBy('channel')
      .execute()
    return rows.map(subscriptionOf)
  },

  async subscribers(channel) {
    const rows = await read
      .selectFrom('subscriptions')
      .select('agent')
      .where('channel', '=', encodeText(channel))
      .orderBy('agent')
      .execute()
    return rows.map((row) => decodeText(row.agent))
  },
})
