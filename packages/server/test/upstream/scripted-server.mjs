// An MCP server that behaves as the file in its first argument says, read anew for each request.
import { appendFileSync, readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

const script = () => JSON.parse(readFileSync(process.argv[2], 'utf8'))
const write = (message) => process.stdout.write(`${JSON.stringify(message)}\n`)
const text = (value) => ({ content: [{ type: 'text', text: String(value) }] })
const noted = process.argv[3]
const note = (line) => noted && appendFileSync(noted, `${line}\n`)

const tools = {
  say: ({ text: said }) => text(said),
  environment: () => text(JSON.stringify(process.env)),
  read: ({ path }) => text(readFileSync(path, 'utf8')),
  fail: () => ({ ...text('it went wrong'), isError: true }),
  picture: () => ({
    content: [{ type: 'image', data: 'aGk=', mimeType: 'image/png' }],
    structuredContent: { width: 1 },
    _meta: { kept: true },
  }),
  sound: () => ({
    content: [
      { type: 'audio', data: 'UklGRg==', mimeType: 'audio/wav' },
      { type: 'resource', resource: { uri: 'notes://1', mimeType: 'text/plain', text: 'one' } },
      { type: 'resource_link', uri: 'notes://2', name: 'two' },
    ],
  }),
  die: () => process.exit(3),
  pid: () => text(process.pid),
}

const hostile = {
  flood: () => {
    for (let i = 0; i < 100_000; i += 1)
      write({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: i } })
  },
  nonsense: () => process.stdout.write('{"jsonrpc": "2.0", "id": \n\u0000\u0001 not json\n[]\n'),
  wrong_id: (id) => write({ jsonrpc: '2.0', id: id + 1_000, result: text('for somebody else') }),
  endless_line: () => {
    for (let i = 0; i < 20; i += 1) process.stdout.write('x'.repeat(1024 * 1024))
  },
  silent: () => {},
}

/** Answers to what was asked, by the id that it was asked under. */
const asked = new Map()

const ask = (id, { times = 1, method = 'elicitation/create', ...params }, answer) => {
  const all = Array.from({ length: times }, (_, i) => `ask-${id}-${i}`)
  const replies = []
  for (const one of all) {
    asked.set(one, (reply) => {
      replies.push(reply)
      if (replies.length === times) answer(text(JSON.stringify(replies)))
    })
    write({ jsonrpc: '2.0', id: one, method, params })
  }
}

const log = (level, data, logger) =>
  write({ jsonrpc: '2.0', method: 'notifications/message', params: { level, logger, data } })

/** Calls that wait for another one before they write to the log and are answered. */
const waiting = []

const logTogether = (answer) => {
  waiting.push(answer)
  if (waiting.length < 2) return
  log('error', 'of one of them')
  for (const one of waiting.splice(0)) one(text('done'))
}

note(`start ${process.pid}`)
const methods = {
  initialize(answer) {
    const { name = 'scripted', says } = script()
    if (says) process.stderr.write(says)
    answer({
      protocolVersion: '2025-06-18',
      capabilities: { tools: { listChanged: true }, ...(script().logs ? { logging: {} } : {}) },
      serverInfo: { name, version: '1.0.0' },
    })
  },
  'logging/setLevel'(answer, _id, { level }) {
    note(`level ${level}`)
    answer({})
  },
  'tools/list'(answer, id) {
    const { tools: all, ask: question, asksAtOnce } = script()
    if (asksAtOnce) ask(id, question, () => {})
    answer({ tools: all })
  },
  'tools/call'(answer, id, params) {
    const { misbehave, change, ask: question } = script()
    if (params.name === 'ask') return ask(id, question, answer)
    if (params.name === 'log_together') return logTogether(answer)
    if (params.name === 'log') for (const one of script().logs ?? []) log(...one)
    if (change) write({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' })
    if (misbehave?.[params.name]) return hostile[misbehave[params.name]](id)
    const token = params._meta?.progressToken
    if (token !== undefined)
      write({
        jsonrpc: '2.0',
        method: 'notifications/progress',
        params: { progressToken: token, progress: 1, total: 2, message: 'half' },
      })
    answer(tools[params.name]?.(params.arguments ?? {}, params) ?? text('done'))
  },
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params, result, error } = JSON.parse(line)
  if (method === undefined) return asked.get(id)?.(result ?? { error })
  note(method)
  if (Object.hasOwn(methods, method))
    methods[method]((answer) => write({ jsonrpc: '2.0', id, result: answer }), id, params)
  else if (id !== undefined)
    write({ jsonrpc: '2.0', id, error: { code: -32601, message: `no method ${method}` } })
})
