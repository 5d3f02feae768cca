// Calls of a tool over MCP by any gateway: one session, some calls in flight, over Streamable HTTP of 2025-11-25, or
// over HTTP+SSE where a gateway serves nothing newer. Prints one JSON line, with the processor time that the gateway
// took meanwhile.
import { once } from 'node:events'
import { Agent, get, request } from 'node:http'
import { processorMicroseconds } from '../processor-time.mjs'

const given = JSON.parse(process.argv[2])
const { url, headers, pid, tool, message, in_flight, warm, calls, is_sse } = given

const agent = new Agent({ keepAlive: true, maxSockets: in_flight })

/** Posts one message. Resolves with the body of the answer, and the session that it names. */
const post = (to, text, more = {}) =>
  new Promise((resolve, reject) => {
    const options = {
      agent,
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(text),
        accept: 'application/json, text/event-stream',
        ...headers,
        ...more,
      },
    }
    const sent = request(to, options, (answer) => {
      let body = ''
      answer.setEncoding('utf8')
      answer.on('data', (chunk) => {
        body += chunk
      })
      answer.on('end', () => resolve({ body, session: answer.headers['mcp-session-id'] }))
    })
    // The gateway may close a connection that has waited just as it is used again.
    sent.on('error', (/** @type {NodeJS.ErrnoException} */ error) =>
      sent.reusedSocket && error.code === 'ECONNRESET'
        ? resolve(post(to, text, more))
        : reject(error),
    )
    sent.end(text)
  })

/** Sends a message and resolves with what answers it. */
const overStreamable = () => {
  let named = {}
  return async (text) => {
    const { body, session } = await post(url, text, named)
    if (session) named = { 'mcp-session-id': session, 'mcp-protocol-version': '2025-11-25' }
    return body
  }
}

const overSse = async () => {
  const [stream] = await once(get(url, { headers: { accept: 'text/event-stream' } }), 'response')
  const waiting = new Map()
  let endpoint
  const found = new Promise((resolve) => {
    endpoint = resolve
  })
  const take = (event) => {
    const data = /^data: (.*)$/m.exec(event)?.[1] ?? ''
    if (event.startsWith('event: endpoint')) return endpoint(new URL(data, url).href)
    const id = Number(/"id":(\d+)/.exec(data)?.[1])
    waiting.get(id)?.(data)
    waiting.delete(id)
  }
  let pending = ''
  stream.setEncoding('utf8')
  stream.on('data', (chunk) => {
    const events = (pending + chunk).split('\n\n')
    pending = events.pop()
    for (const event of events) take(event)
  })
  const to = await found
  return async (text, id) => {
    const answered =
      id === undefined ? undefined : new Promise((resolve) => waiting.set(id, resolve))
    await post(to, text)
    return answered
  }
}

const send = is_sse ? await overSse() : overStreamable()
let nextId = 1
const ask = (method, params) => {
  const id = nextId++
  return send(JSON.stringify({ jsonrpc: '2.0', id, method, params }), id)
}

const clientInfo = { name: 'bench', version: '1' }
await ask('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo })
await send(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' }))
// Gateways put the name of the server before that of its tool, each in its way.
const listed = await ask('tools/list', {})
const name = new RegExp(`"name":"([^"]*${tool})"`).exec(listed)?.[1]
if (name === undefined) throw new Error(`${url} lists no ${tool}: ${listed.slice(0, 600)}`)

const callAll = async (count) => {
  const took = []
  let failures = 0
  let firstFailure = ''
  let left = count
  const worker = async () => {
    while (left > 0) {
      left -= 1
      const began = performance.now()
      const text = await ask('tools/call', { name, arguments: { message } })
      took.push(performance.now() - began)
      if (text.includes(message)) continue
      failures += 1
      firstFailure ||= text.slice(0, 600)
    }
  }
  await Promise.all(Array.from({ length: in_flight }, worker))
  return { took: took.toSorted((a, b) => a - b), failures, firstFailure }
}

const begun = await callAll(warm)
const before = processorMicroseconds(pid)
const { took, failures, firstFailure } = await callAll(calls)
const cpu_us = (processorMicroseconds(pid) - before) / calls
agent.destroy()
process.stdout.write(
  `${JSON.stringify({ cpu_us, p50_ms: took[Math.floor(took.length / 2)], failures: begun.failures + failures, firstFailure: begun.firstFailure || firstFailure })}\n`,
  () => process.exit(0),
)
