import { GatehouseError } from '@gatehouse/contract'
import { z } from 'zod'
import type { EngineTask } from '../../../ports/engine.ts'

const charactersMax = 131_072
const tokensMax = 4_096

const text = z.string().max(charactersMax)
const Content = z.union([
  text,
  z
    .array(z.object({ type: z.literal('text'), text }))
    .transform((parts) => parts.map((p) => p.text).join('')),
])

const nothing = z.union([z.null(), z.array(z.never()).max(0)]).optional()

// Fields that are not named here are ignored: programs send much that a small model has no use for.
const common = {
  model: z.string().min(1).max(128).nullish(),
  temperature: z.number().min(0).max(2).nullish(),
  seed: z
    .int()
    .min(0)
    .max(2 ** 31 - 1)
    .nullish(),
  stop: z.union([z.string().min(1).max(64), z.array(z.string().min(1).max(64)).max(8)]).nullish(),
  stream: z.boolean().nullish(),
  stream_options: z.object({ include_usage: z.boolean().nullish() }).nullish(),
  n: z.literal(1, 'only one answer at a time').nullish(),
  max_tokens: z.int().min(1).nullish(),
}

const ResponseFormat = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text') }),
  z.object({ type: z.literal('json_object') }),
  z.object({
    type: z.literal('json_schema'),
    json_schema: z.object({ schema: z.record(z.string(), z.unknown()) }),
  }),
])

export const ChatRequest = z.object({
  ...common,
  messages: z
    .array(
      z.object({
        role: z.enum(
          ['system', 'developer', 'user', 'assistant'],
          'local models know no such role',
        ),
        content: Content,
      }),
    )
    .min(1)
    .max(200),
  max_completion_tokens: z.int().min(1).nullish(),
  response_format: ResponseFormat.nullish(),
  tools: nothing,
  functions: nothing,
  logprobs: z.literal(false, 'is not supported').nullish(),
})

export const CompletionRequest = z.object({
  ...common,
  prompt: z.union([text.min(1), z.array(text.min(1)).length(1)]),
  echo: z.literal(false, 'is not supported').nullish(),
  suffix: z.null('is not supported').optional(),
})

export const EmbeddingRequest = z.object({
  model: common.model,
  input: z.union([text.min(1), z.array(text.min(1)).min(1).max(64)]),
  encoding_format: z.enum(['float', 'base64']).nullish(),
  dimensions: z.null('the length is the model’s own').optional(),
})

/** The first thing that does not fit, with its name. */
export class BadRequest extends GatehouseError {
  readonly param: string | null

  constructor(param: string | null, detail: string) {
    super('InvalidRequest', { detail: param === null ? detail : `${param}: ${detail}` })
    this.param = param
  }
}

export function parse<S extends z.ZodType>(schema: S, body: unknown): z.output<S> {
  const parsed = schema.safeParse(body === undefined ? {} : body)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  const param = issue && issue.path.length > 0 ? issue.path.map(String).join('.') : null
  throw new BadRequest(param, issue?.message ?? 'it does not fit')
}

type Common = Pick<
  z.output<typeof CompletionRequest>,
  'temperature' | 'seed' | 'stop' | 'max_tokens'
>

const limitsOf = ({ temperature, seed, stop, max_tokens }: Common, most?: number | null) => ({
  max_tokens: Math.min(most ?? max_tokens ?? tokensMax, tokensMax),
  temperature: temperature ?? 1,
  ...(seed === null || seed === undefined ? {} : { seed }),
  stop: typeof stop === 'string' ? [stop] : (stop ?? []),
})

const schemaOf = (format: z.output<typeof ChatRequest>['response_format']) =>
  format?.type === 'json_schema'
    ? { json_schema: format.json_schema.schema }
    : format?.type === 'json_object'
      ? { json_schema: { type: 'object' } }
      : {}

export const chatTaskOf = (request: z.output<typeof ChatRequest>): EngineTask => ({
  kind: 'chat',
  messages: request.messages.map(({ role, content }) => ({
    role: role === 'developer' ? 'system' : role,
    content,
  })),
  ...limitsOf(request, request.max_completion_tokens),
  ...schemaOf(request.response_format),
})

export const completionTaskOf = (request: z.output<typeof CompletionRequest>): EngineTask => ({
  kind: 'complete',
  prompt: typeof request.prompt === 'string' ? request.prompt : (request.prompt[0] ?? ''),
  ...limitsOf(request),
})
