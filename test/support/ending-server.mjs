// An MCP server that writes down each call before it answers, and ends in the way that the call names.
import { appendFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

const [notes] = process.argv.slice(2)

const properties = { key: { type: 'string' }, how: { type: 'string' } }
const tools = [{ name: 'do', description: 'Does it.', inputSchema: { type: 'object', properties } }]

const answers = {
  initialize: {
    protocolVersion: '2025-06-18',
    capabilities: { tools: {} },
    serverInfo: { name: 'ending', version: '1.0.0' },
  },
  'tools/list': { tools },
}

/** By the argument `how` of a call. */
const ways = {
  answer: (answer) => answer(),
  'answer late': (answer) => setTimeout(() => answer(), 20),
  'never answer': () => {},
  exit: () => process.exit(3),
  'answer and exit': (answer) => {
    answer()
    process.exit(4)
  },
  'be killed': () => process.kill(process.pid, 'SIGKILL'),
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line)
  const answer = (result) =>
    process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`)
  if (Object.hasOwn(answers, method)) answer(answers[method])
  if (method !== 'tools/call') return
  const { key, how } = params.arguments
  appendFileSync(notes, `${key}\n`)
  ways[how](() => answer({ content: [{ type: 'text', text: key }] }))
})
