import { defineCommand } from '../define.ts'
import { escapeLines } from '../escape-text.ts'

export const modelsTry = defineCommand({
  name: 'models try',
  summary: 'Ask a local model something',
  args: { id: 'an installed model', prompt: 'what to ask; quote it' },
  options: {
    'max-tokens': {
      about: 'the most that it may say; 256 unless given',
      value: 'N',
      integer: true,
    },
  },
  examples: ['gatehouse models try qwen2.5-0.5b-instruct-q4_k_m "Name three rivers."'],
  run: ({ api }, { id, prompt, 'max-tokens': max_tokens }) =>
    api.tryModel({ id, prompt, ...(max_tokens === undefined ? {} : { max_tokens }) }),
  text: ({ text, finish_reason, usage, duration_ms }) =>
    escapeLines(
      [
        text,
        `[${usage.completion_tokens} tokens in ${(duration_ms / 1000).toFixed(1)} s${finish_reason === 'length' ? ', cut off' : ''}]`,
      ].join('\n'),
    ),
})
