import { z } from 'zod'
import { defineCapability } from '../define.ts'
import { errors, generated, generationFields, modelField, promptMax, version } from './fields.ts'
import { toldOf } from './told.ts'

export const generate = defineCapability({
  name: 'inference.generate',
  title: 'Generate text with local model',
  version,
  purpose: 'Let a model on this machine continue a text.',
  when_to_use:
    'For a conversation use inference.chat. A model that completes, or a prompt in its own form, belongs here.',
  inputs: z.strictObject({
    model: modelField,
    prompt: z.string().min(1).max(promptMax).describe('Prompt, passed to the model unchanged'),
    ...generationFields,
  }),
  outputs: z.object(generated),
  tier: 'autonomous',
  effect: 'none',
  waits: true,
  timeout_seconds: 600,
  common_patterns: [
    { title: 'Complete', arguments: { prompt: 'Dear Sir or Madam,', max_tokens: 64 } },
  ],
  errors: [...errors, 'GenerationRefused'],
  result_bytes: () => 256 * 1024,
  text: ({ text }) => text,
  run: (ctx, { model, prompt, ...limits }) =>
    ctx.inference.generate(
      model,
      { kind: 'complete', prompt, ...limits },
      toldOf(ctx, limits.max_tokens),
    ),
})
