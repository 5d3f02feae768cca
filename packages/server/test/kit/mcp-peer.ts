import { until } from '@gatehouse/testkit/until'
import type { WebSocket } from 'ws'

export type Message = {
  id?: unknown
  method?: string
  params?: Record<string, unknown>
  result?: Record<string, unknown>
  error?: { code: number; message: string; data?: Record<string, unknown> }
}

/** A peer that keeps what it receives. */
export class Peer {
  readonly ws: WebSocket
  readonly messages: Message[] = []
  readonly batches: Message[][] = []
  closed: { code: number; reason: string } | null = null
  pings = 0
  #next = 0

  constructor(ws: WebSocket) {
    this.ws = ws
    ws.on('message', (data: Buffer) => {
      const value = JSON.parse(data.toString()) as Message | Message[]
      if (Array.isArray(value)) this.batches.push(value)
      else this.messages.push(value)
    })
    ws.on('ping', () => this.pings++)
    ws.on('close', (code, reason) => {
      this.closed = { code, reason: reason.toString() }
    })
    ws.on('error', () => undefined)
  }

  send(value: unknown): void {
    this.ws.send(typeof value === 'string' ? value : JSON.stringify(value))
  }

  async answerTo(id: unknown): Promise<Message> {
    const found = () => this.messages.find((m) => m.method === undefined && m.id === id)
    await until(() => found() !== undefined || this.closed !== null)
    return found() as Message
  }

  request(method: string, params?: unknown): Promise<Message> {
    const id = `r${++this.#next}`
    this.send({ jsonrpc: '2.0', id, method, params })
    return this.answerTo(id)
  }

  call(name: string, args: unknown = {}, meta?: unknown): Promise<Message> {
    return this.request('tools/call', {
      name,
      arguments: args,
      ...(meta === undefined ? {} : { _meta: meta }),
    })
  }

  async notified(method: string): Promise<Message> {
    const found = () => this.messages.find((m) => m.method === method)
    await until(() => found() !== undefined)
    return found() as Message
  }

  async end(): Promise<{ code: number; reason: string }> {
    await until(() => this.closed !== null)
    return this.closed as { code: number; reason: string }
  }
}
