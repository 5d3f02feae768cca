import { usageError } from '../cli-error.ts'
import { defineCommand } from '../define.ts'
import { escapeText } from '../escape-text.ts'

export const modelsDefault = defineCommand({
  name: 'models default',
  summary: 'Show or set the default model',
  args: { id: { about: 'an installed model', optional: true } },
  options: { none: { about: 'set no default: callers must name a model' } },
  examples: [
    'gatehouse models default',
    'gatehouse models default qwen2.5-0.5b-instruct-q4_k_m',
    'gatehouse models default --none',
  ],
  async run({ api }, { id, none }) {
    if (none && id !== undefined) throw usageError('Name a model, or give --none.')
    if (none || id !== undefined) return api.setDefaultModel({ id: id ?? null })
    return { default_model: (await api.listModels()).default_model }
  },
  text: ({ default_model }) =>
    default_model === null
      ? 'No model is used by default.'
      : escapeText(`${default_model} is used by default.`),
})
