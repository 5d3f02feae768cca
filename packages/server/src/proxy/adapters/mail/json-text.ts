import type { Json } from '../../../ports/json.ts'

/** A value that was stored as text; anything else is none. */
export const jsonText = (value: Json | undefined): string =>
  typeof value === 'string' ? value : ''
