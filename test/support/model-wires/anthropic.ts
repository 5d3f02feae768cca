import { randomUUID } from 'node:crypto'
import { asEvents, asJson, type Wire } from './wire.ts'

type Part = { readonly type: string; readonly text?: string; readonly content?: unknown }
type Body = {
  readonly stream?: boolean
  readonly tools?: readonly { readonly name: string }[]
  readonly messages?: readonly { readonly content: string | readonly Part[] }[]
}

const textOf = (content: unknown): string =>
  typeof content === 'string'
    ? content
    : ((content ?? []) as readonly Part[]).map(({ text, type }) => text ?? type).join('\n')

const usage = { input_tokens: 1, output_tokens: 1 }

export const anthropic: Wire = {
  path: /^\/v1\/messages/,
  read(body) {
    const { stream = false, tools = [], messages = [] } = body as Body
    const parts = messages.flatMap(({ content }) => (typeof content === 'string' ? [] : content))
    const results = parts.filter(({ type }) => type === 'tool_result')
    return { tools, results: results.map(({ content }) => textOf(content)), isStream: stream }
  },
  write(turn, { isStream }) {
    const isCall = 'tool' in turn
    const block = isCall
      ? { type: 'tool_use', id: `toolu_${randomUUID()}`, name: turn.tool.name, input: turn.input }
      : { type: 'text', text: turn.text }
    const stop = { stop_reason: isCall ? 'tool_use' : 'end_turn', stop_sequence: null }
    const message = {
      ...{ id: `msg_${randomUUID()}`, type: 'message', role: 'assistant', model: 'scripted' },
      ...{ content: [block], ...stop, usage },
    }
    // A request to count is answered by the same object: it looks for this field alone.
    if (!isStream) return asJson({ ...message, input_tokens: 1 })
    const delta = isCall
      ? { type: 'input_json_delta', partial_json: JSON.stringify(turn.input) }
      : { type: 'text_delta', text: turn.text }
    const empty = isCall ? { ...block, input: {} } : { type: 'text', text: '' }
    return asEvents([
      { type: 'message_start', message: { ...message, content: [], stop_reason: null } },
      { type: 'content_block_start', index: 0, content_block: empty },
      { type: 'content_block_delta', index: 0, delta },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: stop, usage },
      { type: 'message_stop' },
    ])
  },
}
