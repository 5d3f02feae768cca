/** Limits of one gateway. Every queue, loop and buffer of the front has its bound here. */
export type GatewayLimits = {
  readonly bodyBytesMax: number
  readonly jsonDepthMax: number
  readonly jsonKeysMax: number
  readonly jsonValuesMax: number
  /** A larger answer is refused: the caller is asked to read in ranges. */
  readonly resultBytesMax: number
  readonly headersMax: number
  readonly headersTimeoutMs: number
  readonly requestTimeoutMs: number
  /** Sockets whose first headers are not complete; when full the oldest is closed. */
  readonly headlessSocketsMax: number
  readonly connectionsMax: number
  readonly connectionsPerAgentMax: number
  /** Wrong tokens per address and minute, then 429. A valid token always passes. */
  readonly tokenFailuresPerMinute: number
  readonly batchMax: number
  /** Calls of one WebSocket that run at once; then its reading pauses. */
  readonly socketCallsMax: number
  /** Calls of one WebSocket that are open at once, those that wait for people included. */
  readonly socketOpenCallsMax: number
  readonly outboundPauseBytes: number
  readonly outboundCloseBytes: number
  readonly outboundStallMs: number
  readonly pingEveryMs: number
  readonly deadAfterMs: number
  readonly pongsPerSecond: number
  /** How often open connections are looked at: revocation, liveness, stalls. */
  readonly sweepEveryMs: number
  /** A loop that lags more than this for `shedAfterMs` refuses new calls while at least `shedFromCalls` are under way. */
  readonly loopLagMs: number
  readonly shedAfterMs: number
  readonly shedFromCalls: number
}

/** How long a connection may be quiet between two requests. */
export const keepAliveMs = 30_000

export const defaultGatewayLimits: GatewayLimits = Object.freeze({
  bodyBytesMax: 10 * 1024 * 1024,
  jsonDepthMax: 64,
  jsonKeysMax: 100_000,
  jsonValuesMax: 200_000,
  resultBytesMax: 10 * 1024 * 1024,
  headersMax: 128,
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 30_000,
  headlessSocketsMax: 512,
  connectionsMax: 10_000,
  connectionsPerAgentMax: 1_000,
  tokenFailuresPerMinute: 60,
  batchMax: 100,
  socketCallsMax: 32,
  socketOpenCallsMax: 96,
  outboundPauseBytes: 4 * 1024 * 1024,
  outboundCloseBytes: 16 * 1024 * 1024,
  outboundStallMs: 10_000,
  pingEveryMs: 20_000,
  deadAfterMs: 45_000,
  pongsPerSecond: 20,
  sweepEveryMs: 500,
  loopLagMs: 500,
  shedAfterMs: 3_000,
  // As many as one agent executes at once.
  shedFromCalls: 64,
})
