import { counted } from '../counted.ts'
import { defineCommand } from '../define.ts'
import { escapeLines } from '../escape-text.ts'

export const modelsTry = defineCommand({
  name: 'models try',
  summary: 'Send a prompt to a local model',
  args: { id: 'an installed model', prompt: 'what to ask; quote it' },
  options: {
    'max-tokens': {
      about: 'at most this many tokens (256)',
      value: 'N',
      integer: true,
    },
  },
  examples: ['gatehouse models try qwen2.5-0.5b-instruct-q4_k_m "Name three rivers."'],
  run: ({ api }, { id, prompt, 'max-tokens': max_tokens }) =>
    api.tryModel({ id, prompt, max_tokens }),
  text: ({ text, finish_reason, usage, duration_ms }) =>
    escapeLines(
      [
        text,
        `[${counted(usage.completion_tokens, 'token')} in ${(duration_ms / 1000).toFixed(1)} s${finish_reason === 'length' ? ', cut off' : ''}]`,
      ].join('\n'),
    ),
})
