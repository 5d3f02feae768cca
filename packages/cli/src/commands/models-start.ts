import { defineCommand } from '../define.ts'
import { engineText } from '../engine-text.ts'

export const modelsStart = defineCommand({
  name: 'models start',
  summary: 'Load a model now instead of at the first request',
  args: { id: { about: 'an installed model (the default one)', optional: true } },
  examples: ['gatehouse models start', 'gatehouse models start qwen2.5-0.5b-instruct-q4_k_m'],
  async run({ api, server }, { id }) {
    // Without a server it would end with this command.
    await server()
    return api.startEngine({ model: id ?? null })
  },
  text: engineText,
})
