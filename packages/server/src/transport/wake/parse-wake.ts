import type { Buffer } from 'node:buffer'
import { z } from 'zod'
import { parseJson } from '../http/parse-json.ts'

export const wakeBytesMax = 1_200

const limits = { jsonDepthMax: 8, jsonKeysMax: 64, jsonValuesMax: 256 }

const Wake = z.strictObject({
  agent: z.string().min(1).max(63),
  reason: z.string().optional(),
  data: z.record(z.string(), z.unknown()).optional(),
  id: z.string().max(64).optional(),
})

/** As it came. Whether there is such an agent is not said here. */
export type Wake = {
  readonly agent: string
  readonly reason?: string
  readonly data?: Readonly<Record<string, unknown>>
  readonly id?: string
}

const openBrace = 0x7b

/** A wake, or null for anything else, however close: what is no wake gets no answer. */
export const parseWake = (bytes: Buffer): Wake | null => {
  if (bytes.length > wakeBytesMax || bytes[0] !== openBrace) return null
  try {
    const parsed = Wake.safeParse(parseJson(bytes, limits))
    return parsed.success ? (parsed.data as Wake) : null
  } catch {
    return null
  }
}
