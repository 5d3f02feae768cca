import type {
  MessageStore,
  StoredMessage,
  StoredSubscription,
  SubscriptionStore,
} from '../../ports/messages.ts'
import { rowCodec, text, textOrNull } from './row-codec.ts'
import type { Db, MessagesTable, SubscriptionsTable } from './tables.ts'
import { decodeText, encodeText } from './text.ts'

/** Far below what either engine takes as parameters of one statement. */
const rowsAtOnce = 200

const chunked = <T>(all: readonly T[]): readonly (readonly T[])[] =>
  Array.from({ length: Math.ceil(all.length / rowsAtOnce) }, (_, i) =>
    all.slice(i * rowsAtOnce, (i + 1) * rowsAtOnce),
  )

const message = rowCodec<StoredMessage, MessagesTable>('messages', {
  sender: text,
  channel: textOrNull,
  body_json: text,
})

/** A message is there as long as a mailbox holds it. */
const dropUnheld = (write: Db['write'], ids: readonly string[]) =>
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

const mailboxes = ({ read, write }: Db): Pick<MessageStore, 'insert' | 'waiting' | 'listFor'> => ({
  async insert(stored, recipients) {
    const row = message.toRow(stored)
    const { id: message_id, channel, sent_ms, expires_ms } = row
    await write.insertInto('messages').values(row).execute()
    const rank = 2 - stored.priority
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
    return { messages: rows.map(message.fromRow), total }
  },
})

const removals = ({ write }: Db): Pick<MessageStore, 'acknowledge' | 'prune'> => ({
  async acknowledge(agent, ids) {
    const taken: string[] = []
    for (const some of chunked(ids)) {
      const rows = await write
        .deleteFrom('deliveries')
        .where('agent', '=', encodeText(agent))
        .where('message_id', 'in', some)
        .returning('message_id')
        .execute()
      await dropUnheld(write, some)
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
      await dropUnheld(write, ids)
  },
})

export const sqlMessages = (db: Db): MessageStore => ({
  ...mailboxes(db),
  ...removals(db),
})

const subscription = rowCodec<StoredSubscription, SubscriptionsTable>('subscriptions', {
  agent: text,
  channel: text,
})

export const sqlSubscriptions = ({ read, write }: Db): SubscriptionStore => ({
  async insert(stored) {
    const row = subscription.toRow(stored)
    await write
      .insertInto('subscriptions')
      .values(row)
      .onConflict((conflict) => conflict.columns(['agent', 'channel']).doNothing())
      .execute()
    const standing = await write
      .selectFrom('subscriptions')
      .selectAll()
      .where('agent', '=', row.agent)
      .where('channel', '=', row.channel)
      .executeTakeFirstOrThrow()
    return subscription.fromRow(standing)
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
    return rows.map(subscription.fromRow)
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
