/** Part of a response that the handlers of `/rpc` use: Node's own, or one of the fast path. */
export interface HttpResponse {
  readonly headersSent: boolean
  /** Sent whole, or the connection has closed before. */
  readonly destroyed: boolean
  readonly writableFinished: boolean
  /** Bytes that the peer has not taken yet. */
  readonly writableLength: number
  on(event: 'close', listener: () => void): unknown
  /** `headers`: names and values in turn. */
  writeHead(status: number, headers: string[]): unknown
  end(body?: string): unknown
  destroy(): unknown
}
