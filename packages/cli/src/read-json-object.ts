import { usageError } from './cli-error.ts'

/** The object that a text of JSON holds. Raises a usage error with this complaint for anything else. */
export function readJsonObject(text: string, complaint: string): Record<string, unknown> {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    value = undefined
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>
  throw usageError(complaint)
}
