import { createServer, request as httpRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Json } from '@gatehouse/server/ports/json'
import type { FakeRequest, FakeServer } from './fake-server.ts'

/** `sent`: whether anything of the request may have arrived. */
export class FakeLinkError extends Error {
  readonly sent: boolean
  readonly busyMs: number | null

  constructor(message: string, sent: boolean, busyMs: number | null = null) {
    super(message)
    this.sent = sent
    this.busyMs = busyMs
  }
}

export type FakeLink = (request: FakeRequest, signal: AbortSignal) => Promise<Json>

const until = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    const stop = () => reject(new FakeLinkError('the connection was given up', true))
    if (signal.aborted) return stop()
    signal.addEventListener('abort', stop, { once: true })
  })

/** Speaks to a server in the same process. */
export const memoryLink =
  (server: FakeServer): FakeLink =>
  async (request, signal) => {
    const fault = server.fault(request)
    if (fault === 'refuse') throw new FakeLinkError('fake.example refused the connection', false)
    if (fault === 'busy') throw new FakeLinkError('fake.example is busy', false, 2_000)
    if (fault === 'hang') return until(signal)
    if (fault === 'drop') throw new FakeLinkError('the connection broke', true)
    const answer = server.handle(request)
    if (fault === 'cut') throw new FakeLinkError('the connection broke', true)
    return fault === 'garbage' ? { nonsense: [1] } : answer
  }

/** Serves it to other processes, which may be killed at any moment. */
export const serveFake = async (
  server: FakeServer,
): Promise<{ readonly url: string; close(): Promise<void> }> => {
  const http = createServer((incoming, outgoing) => {
    let text = ''
    incoming.on('data', (chunk: Buffer) => {
      text += chunk.toString()
    })
    incoming.on('end', () => {
      const request = JSON.parse(text) as FakeRequest
      const fault = server.fault(request)
      if (fault === 'drop') return void incoming.socket.destroy()
      const answer = server.handle(request)
      if (fault === 'cut') return void incoming.socket.destroy()
      outgoing.end(JSON.stringify(answer))
    })
  })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  const { port } = http.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve) => {
        http.closeAllConnections()
        http.close(() => resolve())
      }),
  }
}

/** Speaks to a server of another process; a new connection for each request. */
export const httpLink =
  (url: string): FakeLink =>
  (request, signal) =>
    new Promise((resolve, reject) => {
      const { hostname, port } = new URL(url)
      let connected = false
      const fail = (cause: unknown) =>
        reject(new FakeLinkError(`fake.example: ${String(cause)}`, connected))
      const sending = httpRequest(
        { method: 'POST', host: hostname, port, signal, agent: false },
        (response) => {
          let text = ''
          response.on('data', (chunk: Buffer) => {
            text += chunk.toString()
          })
          response.on('error', fail)
          response.on('end', () => {
            try {
              resolve(JSON.parse(text) as Json)
            } catch (cause) {
              fail(cause)
            }
          })
        },
      )
      // From here on something of it may have arrived.
      sending.on('socket', (socket) => {
        socket.on('connect', () => {
          connected = true
        })
      })
      sending.on('error', fail)
      sending.end(JSON.stringify(request))
    })
