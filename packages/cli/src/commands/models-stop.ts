import { defineCommand } from '../define.ts'

export const modelsStop = defineCommand({
  name: 'models stop',
  summary: 'Stop the engine of local models and free its memory',
  examples: ['gatehouse models stop'],
  run: ({ api }) => api.stopEngine(),
  text: () => 'The engine is stopped. The next request starts it again.',
})
