// The same load over WebSockets, one call in flight on each. Prints one JSON line.
import { WebSocket } from 'ws'

const [address, tokensText, clientsText, secondsText, method, paramsText] = process.argv.slice(2)
/** Of several agents, in turn. */
const tokens = tokensText.split(',')
const warmMs = 1_000
const endMs = warmMs + Number(secondsText) * 1_000
const startedAt = performance.now()
const latencies = []
let failures = 0
let firstFailure = ''

const run = (/** @type {string} */ token) =>
  new Promise((resolve, reject) => {
    const socket = new WebSocket(address, {
      perMessageDeflate: false,
      ...(token ? { headers: { authorization: `Bearer ${token}` } } : {}),
    })
    let id = 0
    let sentAt = 0
    const send = () => {
      id += 1
      sentAt = performance.now()
      socket.send(`{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${paramsText}}`)
    }
    socket.on('open', send)
    socket.on('error', reject)
    socket.on('message', (/** @type {Buffer} */ message) => {
      const now = performance.now()
      if (message.includes('"error"') || message.includes('"isError":true')) {
        failures += 1
        firstFailure ||= message.toString().slice(0, 600)
      }
      if (now - startedAt > warmMs) latencies.push(now - sentAt)
      if (now - startedAt > endMs) {
        socket.close()
        resolve(undefined)
      } else send()
    })
  })

await Promise.all(
  Array.from({ length: Number(clientsText) }, (_, at) => run(tokens[at % tokens.length] ?? '')),
)
latencies.sort((a, b) => a - b)
const at = (share) =>
  latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))]
process.stdout.write(
  `${JSON.stringify({ calls: latencies.length, per_second: latencies.length / Number(secondsText), p50_ms: at(0.5), p99_ms: at(0.99), failures, firstFailure })}\n`,
)
process.exit(0)
