import { GatehouseError } from '@gatehouse/contract'
import type { MessageStore, StoredMessage, SubscriptionStore } from '../../ports/messages.ts'
import { type Access, compareText, type State } from './state.ts'

const inTurn = (a: StoredMessage, b: StoredMessage): number =>
  b.priority - a.priority || a.sent_ms - b.sent_ms || compareText(a.id, b.id)

/** A message is there as long as a mailbox holds it. */
const dropUnheld = ({ messages, mailboxes }: State, ids: readonly string[]): void => {
  for (const id of ids) if (![...mailboxes.values()].some((box) => box.has(id))) messages.delete(id)
}

export const memoryMessages = ({ state, write }: Access): MessageStore => {
  const waitingFor = (agent: string, nowMs: number) =>
    [...(state().mailboxes.get(agent) ?? [])]
      .flatMap((id) => state().messages.get(id) ?? [])
      .filter((message) => message.expires_ms > nowMs)
      .toSorted(inTurn)
  return {
    insert: (message, recipients) =>
      write(({ messages, mailboxes }) => {
        if (messages.has(message.id))
          throw new GatehouseError('Conflict', { detail: `message ${message.id} is there` })
        messages.set(message.id, { ...message })
        for (const agent of recipients)
          mailboxes.set(agent, new Set([...(mailboxes.get(agent) ?? []), message.id]))
      }),

    waiting: async (agents, nowMs) =>
      new Map(agents.map((agent) => [agent, waitingFor(agent, nowMs).length])),

    async listFor(agent, { channel, nowMs, limit }) {
      const found = waitingFor(agent, nowMs).filter(
        (message) => channel === undefined || message.channel === channel,
      )
      return { messages: found.slice(0, limit), total: found.length }
    },

    acknowledge: (agent, ids) =>
      write((now) => {
        const box = now.mailboxes.get(agent) ?? new Set()
        const taken = ids.filter((id) => box.has(id))
        now.mailboxes.set(agent, new Set([...box].filter((id) => !taken.includes(id))))
        dropUnheld(now, taken)
        return taken
      }),

    prune: (nowMs) =>
      write((now) => {
        const expired = [...now.messages.values()]
          .filter((message) => message.expires_ms <= nowMs)
          .map(({ id }) => id)
        for (const [agent, box] of now.mailboxes)
          now.mailboxes.set(agent, new Set([...box].filter((id) => !expired.includes(id))))
        dropUnheld(now, expired)
      }),
  }
}

export const memorySubscriptions = ({ state, write }: Access): SubscriptionStore => {
  const all = () => [...state().subscriptions.values()]
  return {
    insert: (subscription) =>
      write(({ subscriptions }) => {
        const { agent, channel } = subscription
        const known = [...subscriptions.values()].find(
          (s) => s.agent === agent && s.channel === channel,
        )
        if (known) return known
        subscriptions.set(subscription.id, { ...subscription })
        return subscription
      }),

    remove: (id, agent) =>
      write(({ subscriptions }) =>
        subscriptions.get(id)?.agent === agent ? subscriptions.delete(id) : false,
      ),

    listOf: async (agent) =>
      all()
        .filter((s) => s.agent === agent)
        .toSorted((a, b) => compareText(a.channel, b.channel)),

    subscribers: async (channel) =>
      all()
        .filter((s) => s.channel === channel)
        .map((s) => s.agent)
        .toSorted(compareText),
  }
}
