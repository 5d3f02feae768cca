/** A WebSocket, as far as MCP needs one: texts in, texts out. */
export type Socket = {
  /** Must take the text whole or not at all; false where the socket is not open any more. */
  send(text: string): boolean
  close(): void
}

export type SocketListener = {
  text(text: string): void
  /** Once, after which nothing comes. The code that it was closed with, or null if it broke. */
  closed(code: number | null): void
}

/** Raises a `GatehouseError`: a refusal of the gate, or `Unreachable` with `sent` false. */
export type OpenSocket = (url: string, token: string, listener: SocketListener) => Promise<Socket>
