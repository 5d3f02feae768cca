import { stateValueBytesMax } from '@gatehouse/contract'
import { z } from 'zod'
import { smallResult } from './define.ts'

/** Fields that the groups of values (state, shared, scratch) have in common. */
export const key = z.string().describe('Any text. At most 512 characters.')

export const value = z
  .unknown()
  .refine((given) => given !== undefined, 'is required')
  .describe('Any JSON value. At most 1 MiB.')

export const prefix = z.string().max(512).default('')

export const cursor = z.string().max(512).optional().describe('`next_cursor` of the previous page')

export const limit = (max: number, byDefault: number) => z.int().min(1).max(max).default(byDefault)

export const expectedVersion = z
  .int()
  .min(0)
  .describe('Refused unless the key is at this version; 0: it must be new')

export const ttlSeconds = z
  .int()
  .min(1)
  .max(315_360_000)
  .optional()
  .describe('Delete the value after this time')

const timestamp = z.string().describe('ISO 8601, UTC')

const changed = {
  version: z.int(),
  updated_at: timestamp,
  updated_by: z.string(),
  expires_at: timestamp.nullable(),
}

export const found = z.object({ key: z.string(), value: z.unknown(), ...changed })

export const stored = z.object({ key: z.string(), size_bytes: z.int(), ...changed })

export const keys = z.object({
  keys: z.array(stored),
  total: z.int().describe('Keys in all, whatever the prefix'),
  size_bytes: z.int(),
  quota_bytes: z.int(),
  truncated: z.boolean(),
  next_cursor: z.string().nullable(),
})

export const deleted = z.object({ key: z.string(), deleted: z.boolean(), version: z.int() })

/** Version and tier of them all. */
export const common = { version: '1.0', tier: 'autonomous' } as const

/** Declarations that the groups share for the acts that they have in common. */
export const getting = {
  ...common,
  inputs: z.strictObject({ key }),
  outputs: found,
  effect: 'none',
  errors: ['StateNotFound', 'InvalidKey'],
  result_bytes: () => stateValueBytesMax + 16 * 1024,
} as const
export const listing = {
  ...common,
  inputs: z.strictObject({ prefix, limit: limit(1000, 100), cursor }),
  outputs: keys,
  effect: 'none',
  errors: ['InvalidKey'],
} as const
export const setting = {
  ...common,
  outputs: stored,
  effect: 'immediate',
  errors: ['InvalidKey', 'ValueTooLarge', 'VersionConflict', 'StateQuotaExceeded', 'QuotaExceeded'],
  result_bytes_max: smallResult,
} as const
export const deleting = {
  ...common,
  outputs: deleted,
  effect: 'immediate',
  errors: ['StateNotFound', 'InvalidKey', 'VersionConflict'],
  result_bytes_max: smallResult,
} as const

/** The answer does not depend on its form: an area gives exactly what the schemas above say. */
export const answer = (given: Promise<unknown>) => given as Promise<never>
