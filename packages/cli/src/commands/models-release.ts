import { defineCommand } from '../define.ts'
import { escapeText } from '../escape-text.ts'

export const modelsRelease = defineCommand({
  name: 'models release',
  summary: 'Release a model from quarantine',
  args: { id: 'the model' },
  examples: ['gatehouse models release qwen2.5-0.5b-instruct-q4_k_m'],
  run: ({ api }, { id }) => api.releaseModel({ id }),
  text: ({ id }) => escapeText(`${id} is released: the next request loads it again.`),
})
