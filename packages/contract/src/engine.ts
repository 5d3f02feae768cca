import { z } from 'zod'
import { Timestamp } from './ids.ts'

/** The program that runs models, as it is installed here. */
export const EnginePackage = z.object({
  installed: z.boolean(),
  /** The version that this service uses, whether it is installed or not. */
  version: z.string(),
  /** Problem that keeps the engine from being installed or used; null where there is none. */
  problem: z.string().nullable(),
  remedy: z.string().nullable(),
})
export type EnginePackage = z.infer<typeof EnginePackage>

/** The installation of the engine: the one under way, or the last one of this run of the service. */
export const EngineSetup = z.object({
  status: z.enum(['none', 'running', 'done', 'failed']),
  /** Packages here, and all of them. */
  packages_done: z.int(),
  packages_total: z.int(),
  error: z
    .object({
      type: z.string(),
      message: z.string(),
      recovery: z.array(z.object({ action: z.string(), description: z.string() })),
    })
    .nullable(),
  started_at: Timestamp.nullable(),
  finished_at: Timestamp.nullable(),
})
export type EngineSetup = z.infer<typeof EngineSetup>

/** Measurements of a model on this machine. */
export const ModelMeasure = z.object({
  tokens_per_second: z.number(),
  memory_bytes: z.int(),
  measured_at: Timestamp,
})
export type ModelMeasure = z.infer<typeof ModelMeasure>

/** `stopped`: starts with the next request. `backing_off`: it ended by itself, and rests before it starts again. */
export const EngineStatus = z.enum([
  'not_installed',
  'stopped',
  'starting',
  'running',
  'backing_off',
])
export type EngineStatus = z.infer<typeof EngineStatus>

export const EngineState = z.object({
  status: EngineStatus,
  package: EnginePackage,
  setup: EngineSetup,
  /** The model that is loaded or being loaded. */
  model: z.string().nullable(),
  /** Backend of the sandbox, which says how strong the isolation is. */
  sandbox: z.string().nullable(),
  pid: z.int().nullable(),
  context_tokens: z.int().nullable(),
  /** As the engine last said. */
  memory_bytes: z.int().nullable(),
  tokens_per_second: z.number().nullable(),
  started_at: Timestamp.nullable(),
  /** Requests at work, and in line. */
  active: z.int(),
  waiting: z.int(),
  /** Since the service started. */
  requests: z.int(),
  /** How often it ended by itself or had to be killed, since the service started. */
  crashes: z.int(),
  last_failure: z.string().nullable(),
  again_at: Timestamp.nullable(),
  quarantined: z.array(z.object({ id: z.string(), reason: z.string(), since: Timestamp })),
  measures: z.array(ModelMeasure.extend({ id: z.string() })),
})
export type EngineState = z.infer<typeof EngineState>

/** Null: the model that is used where a caller names none. */
export const StartEngine = z.strictObject({
  model: z.string().min(1).max(128).nullable().default(null),
})
export type StartEngine = z.infer<typeof StartEngine>

export const TryModel = z.strictObject({
  prompt: z.string().min(1).max(65_536),
  max_tokens: z.int().min(1).max(4_096).default(256),
  temperature: z.number().min(0).max(2).default(0),
})
export type TryModel = z.infer<typeof TryModel>

export const TokenUsage = z.object({
  prompt_tokens: z.int(),
  completion_tokens: z.int(),
  total_tokens: z.int(),
})
export type TokenUsage = z.infer<typeof TokenUsage>

export const ModelAnswer = z.object({
  model: z.string(),
  text: z.string(),
  finish_reason: z.enum(['stop', 'length']),
  usage: TokenUsage,
  duration_ms: z.int(),
})
export type ModelAnswer = z.infer<typeof ModelAnswer>

export const ReleasedModel = z.object({ id: z.string(), released: z.literal(true) })
export type ReleasedModel = z.infer<typeof ReleasedModel>
