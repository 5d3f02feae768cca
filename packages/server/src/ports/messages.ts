/** Higher ones are received first. */
export type MessagePriority = 0 | 1 | 2

/** Message of one agent to another, or to all that subscribe to a channel. Times are wall clock ms. */
export type StoredMessage = {
  readonly id: string
  readonly sender: string
  readonly channel: string | null
  readonly priority: MessagePriority
  /** JSON: a text or an object. */
  readonly body_json: string
  readonly sent_ms: number
  readonly expires_ms: number
}

export type StoredSubscription = {
  readonly id: string
  readonly agent: string
  readonly channel: string
  readonly created_ms: number
}

export interface MessageStore {
  /** Must store the message once and put it into each mailbox named. Durable as its transaction is. */
  insert(message: StoredMessage, recipients: readonly string[]): Promise<void>

  /** Must count what waits unexpired for each of these agents; those without any may be left out. */
  waiting(agents: readonly string[], nowMs: number): Promise<ReadonlyMap<string, number>>

  /** Must return what waits unexpired for an agent: by priority, then in the order it was sent. */
  listFor(
    agent: string,
    filter: { readonly channel?: string; readonly nowMs: number; readonly limit: number },
  ): Promise<{ readonly messages: readonly StoredMessage[]; readonly total: number }>

  /** Must take messages out of one mailbox, and return how many were there: of two receivers, one gets each. */
  acknowledge(agent: string, ids: readonly string[]): Promise<readonly string[]>

  /** Must delete what expired at or before the moment, and messages that wait in no mailbox. */
  prune(nowMs: number): Promise<void>
}

export interface SubscriptionStore {
  /** Must store nothing and return the one there is where the agent subscribes to the channel already. */
  insert(subscription: StoredSubscription): Promise<StoredSubscription>

  /** Must delete a subscription of this agent, and say whether there was one. */
  remove(id: string, agent: string): Promise<boolean>

  listOf(agent: string): Promise<readonly StoredSubscription[]>

  /** Must return the agents that subscribe to a channel, by name. */
  subscribers(channel: string): Promise<readonly string[]>
}
