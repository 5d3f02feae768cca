import type { CertificateIdentity } from '../domain/upstream/certificate.ts'

export type OutboundRequest = {
  readonly url: string
  readonly method: string
  /** Names in lower case. `host`, hop-by-hop headers and line breaks are refused. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array | null
  /** For connecting and every byte; the caller's signal ends it sooner. */
  readonly timeout_ms: number
  /** 0: a redirect is answered as it stands. Each hop is decided anew. */
  readonly redirects_max: number
  /** Refuses http, also on a redirect. */
  readonly https_only: boolean
  /** Asked for the first address and for every redirect; raises to refuse. */
  readonly allows?: (url: URL) => void
  /** Headers for an origin alone, such as a secret: made per hop, never sent to another origin. */
  readonly credentials?: (url: URL) => Readonly<Record<string, string>>
  /** The same as parameters of the query; they never show in `url` of the response. */
  readonly credential_query?: (url: URL) => Readonly<Record<string, string>>
  /** Of the decoded body: one byte more raises `ResponseTooLarge`. Without it the reader stops when it likes. */
  readonly body_bytes_max?: number
}

export type OutboundResponse = {
  readonly status: number
  /** Names in lower case; repeated ones joined by `, `. */
  readonly headers: Readonly<Record<string, string>>
  /** Where the answer came from, after redirects. */
  readonly url: string
  /** Decoded from its content encoding. Reading further than needed is the caller's choice: stop and dispose. */
  readonly body: AsyncIterable<Uint8Array>
  [Symbol.asyncDispose](): Promise<void>
}

/** Connections of one caller to one origin. Requests to others have a connection of their own. */
export interface KeptOutbound extends Disposable {
  /** As of `Outbound`. Must not be sent again where its connection broke off: the other side may have acted on it. */
  request(request: OutboundRequest, signal: AbortSignal): Promise<OutboundResponse>
}

/** A CONNECT proxy on a Unix socket for one sandboxed child. */
export interface Egress extends AsyncDisposable {
  /** Path on the host. */
  readonly socket: string
  /** Hosts that the child asked for and no pattern allows, each `host:port` once, the oldest 100. */
  refused(): readonly { readonly host: string; readonly port: number; readonly times: number }[]
}

/**
 * The only way out to the network. Reaches global addresses and those private ones that an operator listed;
 * everything else reads the same: `HostUnreachable`. Raises also `UrlNotAllowed`, `RequestNotAllowed`,
 * `RedirectRefused`, `ResponseRefused`, `ResponseTooLarge`, `TimedOut`, `TlsFailed`.
 */
export interface Outbound {
  request(request: OutboundRequest, signal: AbortSignal): Promise<OutboundResponse>

  /**
   * Must keep connections to the origin of the URL open for the next request, each under the same checks as a new one
   * and for a bounded time, until it is disposed. For one caller: what it shows a server must be nobody else's. `check`
   * must be asked of each connection over TLS before anything is sent over it, and raises to refuse it.
   */
  keepConnections(url: string, check?: (found: CertificateIdentity) => void): KeptOutbound

  /** Addresses a name leads to, checked like a connection. */
  lookup(hostname: string, signal: AbortSignal): Promise<readonly string[]>

  /**
   * Whether a port takes a connection, and how long that took; under the same guard. Closed, filtered, unknown
   * and guarded all read `open: false`.
   */
  connect(
    target: { readonly host: string; readonly port: number; readonly timeout_ms: number },
    signal: AbortSignal,
  ): Promise<{ readonly open: boolean; readonly latency_ms: number }>

  /** Lets a child reach these `host:port` patterns (`*.example.org:443`), each connection under the guard. */
  openEgress(hosts: readonly string[]): Promise<Egress>
}
