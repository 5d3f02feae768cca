import { defineCommand } from '../define.ts'
import { engineText } from '../engine-text.ts'

export const modelsEngine = defineCommand({
  name: 'models engine',
  summary: 'Show the engine of local models: loaded model, memory, requests and crashes',
  examples: ['gatehouse models engine', 'gatehouse models engine --json'],
  run: ({ api }) => api.showEngine(),
  text: engineText,
})
