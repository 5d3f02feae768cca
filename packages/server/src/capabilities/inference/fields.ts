import { z } from 'zod'

export const version = '1.0'

/** Limit of a prompt, in characters: more than any context here takes. */
export const promptMax = 131_072
const schemaMax = 16_384

export const modelField = z
  .string()
  .min(1)
  .max(128)
  .optional()
  .describe('An id that inference.models lists; default: the default model')

const jsonSchema = z
  .record(z.string(), z.unknown())
  .refine(
    (schema) => JSON.stringify(schema).length <= schemaMax,
    `must be at most ${schemaMax} characters of JSON`,
  )
  .optional()
  .describe('A JSON Schema that the text then fits. Unless it ends by length.')

/** How a text is made, alike for a conversation and a prompt. */
export const generationFields = {
  max_tokens: z.int().min(1).max(4_096).default(512).describe('The most that is generated'),
  temperature: z.number().min(0).max(2).default(0).describe('0: the same text each time'),
  seed: z
    .int()
    .min(0)
    .max(2 ** 31 - 1)
    .optional()
    .describe('Same seed, same text. Counts with a temperature above 0.'),
  stop: z
    .array(z.string().min(1).max(64))
    .max(8)
    .default([])
    .describe('Texts at which generation ends. They are not part of the result.'),
  json_schema: jsonSchema,
}

const tokens = z.int().min(0)

export const generated = {
  model: z.string(),
  text: z.string(),
  finish_reason: z.enum(['stop', 'length']),
  usage: z.object({ prompt_tokens: tokens, completion_tokens: tokens, total_tokens: tokens }),
}

export const errors = [
  'NoModelChosen',
  'ModelNotFound',
  'ModelNotInstalled',
  'ModelQuarantined',
  'ModelTooLarge',
  'EngineNotInstalled',
  'EngineBusy',
  'EngineFailed',
  'PromptTooLong',
  'SandboxUnavailable',
] as const
