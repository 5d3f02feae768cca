// The engine: one model behind one Unix socket, run by the service in its sandbox. Plain JavaScript, because
// it is run as it stands, from the sources as from a package.
import { createServer } from 'node:http'
import { loadModel, Refusal } from './load-model.mjs'

const bodyBytesMax = 8 * 1024 * 1024
const order = JSON.parse(process.env.GATEHOUSE_ENGINE)
const tell = (line) => process.stdout.write(`${JSON.stringify(line)}\n`)

// Nobody will ask any more: the process that started this one has gone.
process.stdin.on('end', () => process.kill(process.pid, 'SIGKILL')).resume()

/** Where `/proc` is out of reach, the most there ever was. */
const memoryBytes = () => {
  try {
    return process.memoryUsage.rss()
  } catch {
    return process.resourceUsage().maxRSS * 1024
  }
}

async function bodyOf(request) {
  const chunks = []
  let length = 0
  for await (const chunk of request) {
    length += chunk.length
    if (length > bodyBytesMax) throw new Refusal(413, 'body_too_large', 'the request is too large')
    chunks.push(chunk)
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'))
  } catch {
    throw new Refusal(400, 'invalid_json', 'the body is not JSON')
  }
}

const json = (response, status, value) =>
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))

const created = () => Math.floor(Date.now() / 1000)

/** How each endpoint says the same: as parts of a stream, and whole. */
const shapes = {
  chat: {
    part: (delta, finish_reason) => ({
      index: 0,
      delta: delta ? { content: delta } : {},
      finish_reason,
    }),
    whole: ({ text, finish_reason }) => ({
      index: 0,
      message: { role: 'assistant', content: text },
      finish_reason,
    }),
    names: ['chat.completion.chunk', 'chat.completion'],
  },
  complete: {
    part: (text, finish_reason) => ({ index: 0, text, finish_reason }),
    whole: ({ text, finish_reason }) => ({ index: 0, text, finish_reason }),
    names: ['text_completion', 'text_completion'],
  },
}

async function generate(kind, model, request, response, signal) {
  const shape = shapes[kind]
  const base = { id: 'engine', created: created(), model: order.id }
  const event = (choices, more = {}) =>
    response.write(
      `data: ${JSON.stringify({ ...base, object: shape.names[0], choices, ...more })}\n\n`,
    )
  if (!request.stream) {
    const result = await model[kind](request, () => {}, signal)
    const { usage } = result
    return json(response, 200, {
      ...base,
      object: shape.names[1],
      choices: [shape.whole(result)],
      usage,
    })
  }
  const begin = () => {
    if (!response.headersSent) response.writeHead(200, { 'content-type': 'text/event-stream' })
  }
  const result = await model[kind](
    request,
    (text) => {
      begin()
      event([shape.part(text, null)])
    },
    signal,
  )
  begin()
  event([shape.part('', result.finish_reason)], { usage: result.usage })
  response.end('data: [DONE]\n\n')
}

const model = await loadModel(order).catch((cause) => {
  tell({ failed: String(cause?.message ?? cause).slice(0, 500) })
  // The process that waits for the first word ends this one now.
  return new Promise(() => {})
})

let busy = false

const endpoints = {
  'GET /health': (_body, response) =>
    json(response, 200, {
      status: 'ok',
      model: order.id,
      busy,
      context_tokens: model.contextSize,
      memory_bytes: memoryBytes(),
    }),
  'GET /v1/models': (_body, response) =>
    json(response, 200, { object: 'list', data: [{ id: order.id, object: 'model' }] }),
}

const work = {
  'POST /v1/chat/completions': (...given) => generate('chat', model, ...given),
  'POST /v1/completions': (...given) => generate('complete', model, ...given),
  'POST /v1/embeddings': async (request, response, signal) => {
    const { vectors, usage } = await model.embed(request.input, signal)
    const data = vectors.map((embedding, index) => ({ object: 'embedding', index, embedding }))
    json(response, 200, { object: 'list', model: order.id, data, usage })
  },
}

async function answer(request, response) {
  const name = `${request.method} ${request.url}`
  if (Object.hasOwn(endpoints, name)) return endpoints[name](null, response)
  if (!Object.hasOwn(work, name)) throw new Refusal(404, 'not_found', `there is no ${name}`)
  const body = await bodyOf(request)
  if (busy) throw new Refusal(429, 'busy', 'one request at a time')
  const gone = new AbortController()
  response.once('close', () => gone.abort())
  busy = true
  try {
    return await work[name](body, response, gone.signal)
  } finally {
    busy = false
  }
}

const server = createServer((request, response) => {
  answer(request, response).catch((cause) => {
    const { status, code, message } =
      cause instanceof Refusal
        ? cause
        : { status: 500, code: 'failed', message: String(cause?.message) }
    if (response.headersSent) response.destroy()
    else json(response, status, { error: { code, message: message.slice(0, 500) } })
  })
})
server.requestTimeout = 0
process.umask(0o177)
// By its short name: the whole path may be longer than an address can be.
server.listen('engine.sock', () =>
  tell({ ready: true, context_tokens: model.contextSize, memory_bytes: memoryBytes() }),
)
