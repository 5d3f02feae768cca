import { z } from 'zod'
import { defineCapability } from '../define.ts'
import { chat } from './chat.ts'
import { embed } from './embed.ts'
import { version } from './fields.ts'
import { generate } from './generate.ts'

const models = defineCapability({
  name: 'inference.models',
  title: 'List local models',
  version,
  purpose: 'List the models installed on this machine.',
  when_to_use: 'Shows which model to name, and whether it is loaded.',
  inputs: z.strictObject({}),
  outputs: z.object({
    models: z.array(
      z.object({
        id: z.string(),
        label: z.string().nullable(),
        parameters: z.int(),
        context_tokens: z.int(),
        size_bytes: z.int(),
        default: z.boolean(),
        loaded: z.boolean(),
        quarantine: z.string().nullable(),
      }),
    ),
    default_model: z.string().nullable(),
  }),
  tier: 'autonomous',
  effect: 'none',
  common_patterns: [{ title: 'Which models are installed?', arguments: {} }],
  errors: [],
  run: async (ctx) => {
    const all = await ctx.inference.models()
    return { models: [...all], default_model: all.find((one) => one.default)?.id ?? null }
  },
})

export const inferenceCapabilities = [models, chat, generate, embed]
