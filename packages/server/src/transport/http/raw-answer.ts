import { STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { type Refusal, refusalBody, refusals } from './respond.ts'

/** Refuses where there is no response object: an upgrade, or bytes that are no HTTP. Then it closes. */
export const refuseSocket = (socket: Duplex, refusal: Refusal): void => {
  if (!socket.writable) {
    socket.destroy()
    return
  }
  const body = refusalBody(refusal)
  const head = [
    `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status] ?? ''}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ]
  const headers = Object.entries(refusal.headers ?? {})
  for (const [name, value] of headers) if (name !== 'Connection') head.push(`${name}: ${value}`)
  socket.once('finish', () => socket.destroy())
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
}

/** Refusal of bytes that the HTTP parser could not read, by the code of its error. */
export const refusalOfParser = (code: string | undefined): Refusal => {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return refusals.tooManyHeaders
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return { ...refusals.brokenBody, status: 408, message: 'Invalid request: it came too slowly' }
    default:
      return { ...refusals.brokenBody, message: 'Invalid request: this is not HTTP' }
  }
}
