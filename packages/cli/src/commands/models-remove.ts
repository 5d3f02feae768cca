import { defineCommand } from '../define.ts'
import { escapeText } from '../escape-text.ts'
import { shownBytes } from '../model-text.ts'

export const modelsRemove = defineCommand({
  name: 'models remove',
  summary: 'Remove a model, or its partial download',
  args: { id: 'the model' },
  examples: ['gatehouse models remove qwen2.5-0.5b-instruct-q4_k_m --yes'],
  question: ({ id }) => `Remove ${id}? To have it again, it must be fetched again.`,
  run: ({ api }, { id }) => api.removeModel({ id }),
  text: ({ id, freed_bytes }) =>
    escapeText(`${id} is removed; ${shownBytes(freed_bytes)} are free again.`),
})
