// A load of JSON-RPC calls over raw keep-alive sockets: one request in flight on each, so that the
// client costs as little of the machine as it can. Prints one JSON line.
import { connect } from 'node:net'

const [port, path, tokensText = '', connectionsText, secondsText, bodyText = ''] =
  process.argv.slice(2)
/** Of several agents, in turn. */
const tokens = tokensText.split(',')
const connections = Number(connectionsText)
const body = Buffer.from(bodyText)
const requestOf = (token: string): Buffer =>
  Buffer.concat([
    Buffer.from(
      `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${token}\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`,
    ),
    body,
  ])
const warmMs = 1_000
const endMs = warmMs + Number(secondsText) * 1_000
const startedAt = performance.now()
const latencies: number[] = []
let failures = 0
let total = 0
let firstFailure = ''

const headerEnd = Buffer.from('\r\n\r\n')

const run = (request: Buffer): Promise<void> =>
  new Promise((resolve, reject) => {
    const socket = connect({ port: Number(port), host: '127.0.0.1', noDelay: true })
    let sentAt = 0
    let pending: Buffer = Buffer.alloc(0)
    const send = (): void => {
      sentAt = performance.now()
      socket.write(request)
    }
    socket.on('connect', send)
    socket.on('error', reject)
    socket.on('data', (chunk: Buffer) => {
      pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk])
      const at = pending.indexOf(headerEnd)
      if (at < 0) return
      const head = pending.toString('latin1', 0, at)
      const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0)
      if (pending.length < at + 4 + length) return
      const now = performance.now()
      total += 1
      if (!head.startsWith('HTTP/1.1 200') || !pending.includes('"success":true', at)) {
        failures += 1
        firstFailure ||= pending.toString('utf8').slice(0, 600)
      }
      if (now - startedAt > warmMs) latencies.push(now - sentAt)
      pending = pending.subarray(at + 4 + length)
      if (now - startedAt > endMs) {
        socket.end()
        resolve()
      } else send()
    })
  })

await Promise.all(
  Array.from({ length: connections }, (_, at) => run(requestOf(tokens[at % tokens.length] ?? ''))),
)
latencies.sort((a, b) => a - b)
const at = (share: number): number | undefined =>
  latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))]
process.stdout.write(
  `${JSON.stringify({ calls: latencies.length, total, per_second: latencies.length / Number(secondsText), p50_ms: at(0.5), p99_ms: at(0.99), failures, firstFailure })}\n`,
)
