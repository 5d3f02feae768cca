import type { IncomingMessage } from 'node:http'

const offering = new Set(['upgrade', 'connection', 'http2-settings'])

/** The head of a request as it came, but for the offer to change the protocol. */
export const withoutOffer = (req: IncomingMessage): Buffer => {
  const lines = [`${req.method} ${req.url} HTTP/${req.httpVersion}`]
  for (let i = 0; i < req.rawHeaders.length; i += 2) {
    const name = req.rawHeaders[i] ?? ''
    if (!offering.has(name.toLowerCase())) lines.push(`${name}: ${req.rawHeaders[i + 1] ?? ''}`)
  }
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1')
}
