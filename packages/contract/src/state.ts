import { z } from 'zod'
import { Timestamp } from './ids.ts'

/** The name under which people find the area that all agents share. */
export const sharedArea = 'shared'

/** A JSON value of at most 1 MiB. */
export const stateValueBytesMax = 1_048_576

export const StateKeyEntry = z.object({
  key: z.string(),
  size_bytes: z.int(),
  /** 1 for the first value of a key, one more with each change, also across a deletion. */
  version: z.int(),
  updated_at: Timestamp,
})
export type StateKeyEntry = z.infer<typeof StateKeyEntry>

export const StateKeys = z.object({
  agent: z.string(),
  keys: z.array(StateKeyEntry),
  /** Of the whole area, whatever is listed of it. */
  total: z.int(),
  size_bytes: z.int(),
  /** How much the area may hold. */
  quota_bytes: z.int(),
})
export type StateKeys = z.infer<typeof StateKeys>

export const StateValue = z.object({
  agent: z.string(),
  key: z.string(),
  value: z.unknown(),
  version: z.int(),
  updated_at: Timestamp,
})
export type StateValue = z.infer<typeof StateValue>

/** `expected_version`: the version to replace, 0 for a key that must be new. */
export const SetState = z.strictObject({
  value: z.unknown().refine((value) => value !== undefined, 'is required'),
  expected_version: z.int().min(0).optional(),
  ttl_seconds: z.int().min(1).max(315_360_000).optional(),
})
export type SetState = z.infer<typeof SetState>

export const DeletedState = z.object({
  agent: z.string(),
  key: z.string(),
  deleted: z.literal(true),
})
export type DeletedState = z.infer<typeof DeletedState>
