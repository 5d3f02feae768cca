import { defineCommand } from '../define.ts'
import { engineText } from '../engine-text.ts'

export const modelsEngine = defineCommand({
  name: 'models engine',
  summary: 'Show the engine of local models: what is loaded, what it takes, how it has fared',
  examples: ['gatehouse models engine', 'gatehouse models engine --json'],
  run: ({ api }) => api.showEngine(),
  text: engineText,
})
