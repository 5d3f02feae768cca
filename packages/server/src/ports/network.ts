import type { OutboundRequest, OutboundResponse } from './outbound.ts'

/** The way out in the name of one call: every hop is decided by policy as the call itself was. */
export interface AgentNetwork {
  /**
   * Raises what `Outbound.request` does, and `RedirectRefused` where policy would not have let the call go
   * where a redirect leads. Values of used secrets are taken out of what comes back: address, headers, body.
   */
  request(request: Omit<OutboundRequest, 'allows'>): Promise<OutboundResponse>

  /** See `Outbound`. */
  lookup(hostname: string): Promise<readonly string[]>
  connect(target: {
    readonly host: string
    readonly port: number
    readonly timeout_ms: number
  }): Promise<{ readonly open: boolean; readonly latency_ms: number }>
}
