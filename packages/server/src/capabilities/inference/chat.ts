import { z } from 'zod'
import { defineCapability } from '../define.ts'
import { errors, generated, generationFields, modelField, promptMax, version } from './fields.ts'
import { toldOf } from './told.ts'

export const chat = defineCapability({
  name: 'inference.chat',
  title: 'Chat with local model',
  version,
  purpose: 'Ask a model on this machine, with a conversation.',
  when_to_use:
    'For text that must not leave this machine. A small model is often good enough. It is slower and knows less than you do. For a bare prompt without roles use inference.generate.',
  inputs: z.strictObject({
    model: modelField,
    messages: z
      .array(
        z.strictObject({
          role: z.enum(['system', 'user', 'assistant']),
          content: z.string().max(promptMax),
        }),
      )
      .min(1)
      .max(200)
      .refine(
        (all) => all.reduce((sum, { content }) => sum + content.length, 0) <= promptMax,
        `must have at most ${promptMax} characters in all`,
      )
      .refine((all) => all.at(-1)?.role !== 'assistant', 'must not end with the assistant')
      .describe('The conversation so far, the newest last'),
    ...generationFields,
  }),
  outputs: z.object(generated),
  tier: 'autonomous',
  effect: 'none',
  waits: true,
  timeout_seconds: 600,
  common_patterns: [
    {
      title: 'Summarise',
      arguments: {
        messages: [
          { role: 'system', content: 'Answer in one sentence.' },
          { role: 'user', content: 'Summarise: …' },
        ],
        max_tokens: 100,
      },
    },
    {
      title: 'Sort into kinds',
      arguments: {
        messages: [{ role: 'user', content: 'Is this an invoice? …' }],
        json_schema: { type: 'object', properties: { invoice: { type: 'boolean' } } },
      },
    },
  ],
  errors: [...errors, 'GenerationRefused'],
  result_bytes: () => 256 * 1024,
  text: ({ text }) => text,
  run: (ctx, { model, messages, ...limits }) =>
    ctx.inference.generate(
      model,
      { kind: 'chat', messages, ...limits },
      toldOf(ctx, limits.max_tokens),
    ),
})
