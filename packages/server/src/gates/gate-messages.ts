import type { ErrorType, GatehouseError } from '@gatehouse/contract'
import type { Envelope } from './gate-link.ts'

/** Facts that a gate process begins with. */
export type GateBegin = {
  readonly index: number
  readonly count: number
  /** Of the command that started the service: settings are read from the same places. */
  readonly flags: Readonly<Record<string, string | boolean | undefined>>
  /** Where people find the page. */
  readonly page: string
  /** Where agents reach the gateway. */
  readonly address: string
  /** Ports of the service, which nobody reaches by way of itself. */
  readonly ports: readonly number[]
  /** Certificate and key that this node shows other nodes; null where there are none. */
  readonly nodeIdentity: { readonly cert: string; readonly key: string } | null
}

/** From the first gate process to one that it started. */
export type ToGate =
  | { readonly kind: 'begin'; readonly begin: GateBegin }
  /** With the socket of a connection, and what was read from it. */
  | { readonly kind: 'connection'; readonly head: Uint8Array }
  | { readonly kind: 'envelope'; readonly envelope: Envelope }
  /** Another gate process ended: it answers nothing any more. */
  | { readonly kind: 'lost'; readonly index: number }
  | { readonly kind: 'stop' }

/** The other way. */
export type FromGate =
  | { readonly kind: 'ready' }
  | {
      readonly kind: 'failed'
      readonly type: ErrorType
      readonly facts: GatehouseError['facts']
    }
  | { readonly kind: 'envelope'; readonly envelope: Envelope }
