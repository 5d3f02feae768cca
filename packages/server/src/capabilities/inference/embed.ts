import { z } from 'zod'
import { defineCapability } from '../define.ts'
import { errors, modelField, promptMax, version } from './fields.ts'

export const embed = defineCapability({
  name: 'inference.embed',
  title: 'Embed texts',
  version,
  purpose: 'Turn texts into vectors with a model on this machine.',
  when_to_use:
    "The larger the dot product, the more alike two texts are. Vectors of different models can't be compared.",
  inputs: z.strictObject({
    model: modelField,
    input: z
      .array(z.string().min(1).max(32_768))
      .min(1)
      .max(64)
      .refine(
        (all) => all.reduce((sum, text) => sum + text.length, 0) <= promptMax,
        `must have at most ${promptMax} characters in all`,
      )
      .describe('The texts, each by itself'),
  }),
  outputs: z.object({
    model: z.string(),
    vectors: z.array(z.array(z.number())).describe('One for each text, in order, of length 1'),
    usage: z.object({ prompt_tokens: z.int().min(0), total_tokens: z.int().min(0) }),
  }),
  tier: 'autonomous',
  effect: 'none',
  waits: true,
  timeout_seconds: 600,
  common_patterns: [
    { title: 'Compare two texts', arguments: { input: ['the invoice of May', 'a bill'] } },
  ],
  errors,
  result_bytes: () => 4 * 1024 * 1024,
  run: async (ctx, { model, input }) => {
    const { vectors, ...rest } = await ctx.inference.embed(model, input)
    return { ...rest, vectors: vectors.map((vector) => [...vector]) }
  },
})
