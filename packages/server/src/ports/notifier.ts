import type { NotificationEvent, NotificationKind } from '@gatehouse/contract'

/** Notice before it takes the form that a target reads. */
export type Notice = {
  /** The same however often it is sent: a receiver can tell a repetition by it. */
  readonly id: string
  readonly type: NotificationEvent | 'test'
  readonly at: string
  readonly title: string
  readonly text: string
  readonly urgent: boolean
  /** The page about it; null where no dashboard is open. */
  readonly link: string | null
  readonly data: Readonly<Record<string, unknown>>
}

export type NotifierTarget = {
  readonly name: string
  readonly kind: NotificationKind
  /** Scheme and host: paths of webhooks are secrets. */
  readonly origin: string
  readonly events: readonly NotificationEvent[]
  readonly hasSecret: boolean
}

export type Delivery =
  | { readonly kind: 'delivered'; readonly status: number }
  | {
      readonly kind: 'failed'
      readonly status: number | null
      readonly detail: string
      /** When the receiver wants to be asked again. */
      readonly retryAfterMs?: number
    }

export interface Notifier {
  readonly targets: readonly NotifierTarget[]

  /** Must send once and never throw: what went wrong is the value. Must not repeat secrets in it. */
  send(target: string, notice: Notice, signal: AbortSignal): Promise<Delivery>
}
