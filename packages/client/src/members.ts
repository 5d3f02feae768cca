/** A JSON object, as it came from outside. */
export type Members = Readonly<Record<string, unknown>>

export const isMembers = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const textOf = (value: unknown, otherwise: string): string =>
  typeof value === 'string' ? value : otherwise

/** Undefined for a text that is not JSON. */
export const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}
