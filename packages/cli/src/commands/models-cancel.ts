import { defineCommand } from '../define.ts'
import { escapeText } from '../escape-text.ts'
import { shownBytes } from '../model-text.ts'

export const modelsCancel = defineCommand({
  name: 'models cancel',
  summary: 'Cancel the installation of a model; the partial download is kept',
  args: { id: 'the model' },
  examples: ['gatehouse models cancel qwen2.5-0.5b-instruct-q4_k_m'],
  run: ({ api }, { id }) => api.cancelInstall({ id }),
  text: ({ model_id, downloaded_bytes }) =>
    escapeText(
      `The installation of ${model_id} is cancelled. ${shownBytes(downloaded_bytes)} stay for the next one.`,
    ),
})
