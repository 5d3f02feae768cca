import { z } from 'zod'
import { Timestamp } from './ids.ts'

/** One model as a catalog names it. Unknown keys are left out of it. */
export const ModelEntry = z.object({
  id: z.string(),
  /** Direct download address of a GGUF file, https only. */
  url: z.string(),
  sha256: z.string(),
  size_bytes: z.int(),
  label: z.string().optional(),
  params: z.string().optional(),
  license_tag: z.string().optional(),
  description: z.string().optional(),
})
export type ModelEntry = z.infer<typeof ModelEntry>

export const ModelSource = z.enum(['built-in', 'catalog'])
export type ModelSource = z.infer<typeof ModelSource>

/** Facts from the header of a GGUF file; null where the header does not say. */
export const ModelHeader = z.object({
  architecture: z.string(),
  name: z.string().nullable(),
  parameters: z.int(),
  context_length: z.int().nullable(),
  embedding_length: z.int().nullable(),
  layers: z.int().nullable(),
  weights_bytes: z.int(),
  /** Memory that one token of context takes. */
  kv_bytes_per_token: z.int().nullable(),
  /** False for an architecture whose own keys are not known here: only the form was checked. */
  fully_checked: z.boolean(),
})
export type ModelHeader = z.infer<typeof ModelHeader>

/** Whether this machine has the memory: `basis` says what the estimate stands on. */
export const ModelFit = z.object({
  grade: z.enum(['fits', 'tight', 'may_not_fit']),
  needs_bytes: z.int(),
  available_bytes: z.int(),
  context_tokens: z.int(),
  basis: z.enum(['size', 'header']),
})
export type ModelFit = z.infer<typeof ModelFit>

export const ModelJobStatus = z.enum(['waiting', 'running', 'done', 'failed', 'cancelled'])
export const ModelJobPhase = z.enum([
  'waiting',
  'checking',
  'resuming',
  'downloading',
  'verifying',
  'finishing',
  'ended',
])
export type ModelJobPhase = z.infer<typeof ModelJobPhase>

/** An installation, also after it ended. */
export const ModelJob = z.object({
  id: z.string(),
  model_id: z.string(),
  status: ModelJobStatus,
  phase: ModelJobPhase,
  downloaded_bytes: z.int(),
  total_bytes: z.int(),
  percent: z.number(),
  bytes_per_second: z.int().nullable(),
  eta_seconds: z.int().nullable(),
  /** Runs begun so far: each goes on where the last one stopped. */
  attempts: z.int(),
  next_attempt_at: Timestamp.nullable(),
  /** Why it failed, or why its last run did. */
  error: z
    .object({
      type: z.string(),
      message: z.string(),
      recovery: z.array(z.object({ action: z.string(), description: z.string() })),
    })
    .nullable(),
  fit: ModelFit.nullable(),
  created_at: Timestamp,
  finished_at: Timestamp.nullable(),
})
export type ModelJob = z.infer<typeof ModelJob>

export const Model = ModelEntry.extend({
  source: ModelSource,
  /** The file is here and its hash was equal. */
  installed: z.boolean(),
  /** Used where a caller names no model. */
  default: z.boolean(),
  /** False for an installed one that the catalog no longer has. */
  listed: z.boolean(),
  installed_at: Timestamp.nullable(),
  /** When the file was last hashed. */
  verified_at: Timestamp.nullable(),
  /** The catalog has another file under this id than the one that is here. */
  update_available: z.boolean(),
  /** Why the file cannot be used although it was installed. */
  problem: z.string().nullable(),
  header: ModelHeader.nullable(),
  fit: ModelFit.nullable(),
  /** Bytes of an unfinished download that the next installation goes on from. */
  partial_bytes: z.int(),
  /** The installation under way or the last one. */
  job: ModelJob.nullable(),
})
export type Model = z.infer<typeof Model>

/**
 * `current`: fetched and active. `cached`: the last one that was fetched, as the source could not be
 * reached. `refused`: fetched and broken, so that none of its entries count. `unavailable`: neither.
 * `not_configured`: no `catalog.url`.
 */
export const CatalogStatus = z.enum([
  'current',
  'cached',
  'refused',
  'unavailable',
  'not_configured',
])
export type CatalogStatus = z.infer<typeof CatalogStatus>

export const DroppedEntry = z.object({
  id: z.string().nullable(),
  /** Place in `models`, from 0. */
  index: z.int(),
  field: z.string().nullable(),
  reason: z.string(),
})
export type DroppedEntry = z.infer<typeof DroppedEntry>

export const CatalogState = z.object({
  status: CatalogStatus,
  url: z.string().nullable(),
  fetched_at: Timestamp.nullable(),
  checked_at: Timestamp.nullable(),
  reason: z.string().nullable(),
  dropped: z.array(DroppedEntry),
})
export type CatalogState = z.infer<typeof CatalogState>

export const ModelList = z.object({
  models: z.array(Model),
  default_model: z.string().nullable(),
  catalog: CatalogState,
})
export type ModelList = z.infer<typeof ModelList>

export const ModelVerification = z.object({
  id: z.string(),
  verified: z.boolean(),
  expected_sha256: z.string(),
  found_sha256: z.string().nullable(),
  size_bytes: z.int(),
  verified_at: Timestamp,
  detail: z.string().nullable(),
})
export type ModelVerification = z.infer<typeof ModelVerification>

/** Null: none, so that a caller must name one. */
export const SetDefaultModel = z.strictObject({ id: z.string().min(1).max(128).nullable() })
export type SetDefaultModel = z.infer<typeof SetDefaultModel>

export const DefaultModel = z.object({ default_model: z.string().nullable() })
export type DefaultModel = z.infer<typeof DefaultModel>

export const RemovedModel = z.object({
  id: z.string(),
  removed: z.literal(true),
  freed_bytes: z.int(),
})
export type RemovedModel = z.infer<typeof RemovedModel>

/** `structural` fails the whole file, `value` drops its entry alone, `notice` changes nothing. */
export const CatalogProblem = z.object({
  kind: z.enum(['structural', 'value', 'notice']),
  index: z.int().nullable(),
  id: z.string().nullable(),
  field: z.string().nullable(),
  reason: z.string(),
})
export type CatalogProblem = z.infer<typeof CatalogProblem>

export const CatalogVerdict = z.object({
  file: z.string(),
  /** Whether every entry of it would load. */
  valid: z.boolean(),
  /** Outcome for the catalog: all entries load, some, or none. */
  outcome: z.enum(['loads', 'loads_partly', 'refused']),
  loaded: z.array(z.string()),
  problems: z.array(CatalogProblem),
})
export type CatalogVerdict = z.infer<typeof CatalogVerdict>
