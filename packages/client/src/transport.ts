/** One call, as it is sent. */
export type Sent = {
  readonly capability: string
  readonly arguments: object
  readonly reason?: string | undefined
}

/** The result of a call, or the request that it waits for. */
export type Answer =
  | { readonly kind: 'done'; readonly data: unknown; readonly note: string | null }
  | {
      readonly kind: 'pending'
      readonly approvalId: string
      readonly message: string
      /** RFC 3339, UTC. */
      readonly expiresAt: string | null
    }

/**
 * One way to the gate. Raises a `GatehouseError` for whatever is no answer, and the signal's reason once
 * it is aborted. Must send a call at most once: no transport makes one again by itself.
 */
export interface Transport {
  invoke(call: Sent, signal: AbortSignal): Promise<Answer>
  /** Waits for an approval up to so many seconds; may be asked again without an effect. */
  wait(approvalId: string, seconds: number, signal: AbortSignal): Promise<Answer>
  close(): Promise<void>
}
