import { randomUUID } from 'node:crypto'
import { asEvents, asJson, type Tool, type Turn, type Wire } from './wire.ts'

type Listed = { readonly type: string; readonly name?: string; readonly tools?: readonly Listed[] }
type Item = { readonly type?: string; readonly output?: unknown }
type Body = {
  readonly stream?: boolean
  readonly tools?: readonly Listed[]
  readonly input?: string | readonly Item[]
}

const toolsOf = (tools: readonly Listed[]): readonly Tool[] =>
  tools.flatMap(({ type, name = '', tools: inner = [] }) => {
    if (type === 'custom') return [{ name, takesText: true }]
    if (type !== 'namespace') return name === '' ? [] : [{ name }]
    return inner.map((tool) => ({ name: tool.name ?? '', namespace: name }))
  })

const textOf = (output: unknown): string =>
  typeof output === 'string'
    ? output
    : ((output ?? []) as readonly { text?: string }[]).map(({ text }) => text ?? '').join('\n')

const itemOf = (turn: Turn) => {
  if ('text' in turn) {
    const content = [{ type: 'output_text', text: turn.text, annotations: [] }]
    return { type: 'message', id: `msg_${randomUUID()}`, role: 'assistant', content }
  }
  const { takesText, ...tool } = turn.tool
  const ids = { id: `fc_${randomUUID()}`, call_id: `call_${randomUUID()}` }
  if (!takesText)
    return { type: 'function_call', ...ids, ...tool, arguments: JSON.stringify(turn.input) }
  const [input] = Object.values(turn.input)
  return { type: 'custom_tool_call', ...ids, ...tool, input }
}

export const openai: Wire = {
  path: /\/responses$/,
  read(body) {
    const { stream = false, tools = [], input = [] } = body as Body
    const items = typeof input === 'string' ? [] : input
    const results = items.filter(({ type }) => type?.endsWith('_call_output'))
    return {
      tools: toolsOf(tools),
      results: results.map(({ output }) => textOf(output)),
      isStream: stream,
    }
  },
  write(turn, { isStream }) {
    const item = itemOf(turn)
    const usage = {
      ...{ input_tokens: 1, input_tokens_details: { cached_tokens: 0 } },
      ...{ output_tokens: 1, output_tokens_details: { reasoning_tokens: 0 }, total_tokens: 2 },
    }
    const id = `resp_${randomUUID()}`
    const response = { id, object: 'response', status: 'completed', output: [item], usage }
    if (!isStream) return asJson(response)
    return asEvents([
      { type: 'response.created', response: { ...response, status: 'in_progress', output: [] } },
      { type: 'response.output_item.added', output_index: 0, item },
      { type: 'response.output_item.done', output_index: 0, item },
      { type: 'response.completed', response },
    ])
  },
}
