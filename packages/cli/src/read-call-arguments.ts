import { usageError } from './cli-error.ts'
import type { Io } from './io.ts'
import { readInputFile } from './read-input-file.ts'

/** Arguments of a call as they are typed: a JSON object, or `-` for the input. */
export async function readCallArguments(
  given: string,
  io: Io,
): Promise<Readonly<Record<string, unknown>>> {
  const text = given === '-' ? await readInputFile('-', io) : given
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    value = undefined
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>
  throw usageError('--args is a JSON object, such as \'{"path":"notes.txt"}\'.')
}
