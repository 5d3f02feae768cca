import type { Io } from './io.ts'
import { readInputFile } from './read-input-file.ts'
import { readJsonObject } from './read-json-object.ts'

/** Arguments of a call as they are typed: a JSON object, or `-` for the input. */
export async function readCallArguments(
  given: string,
  io: Io,
): Promise<Readonly<Record<string, unknown>>> {
  const text = given === '-' ? await readInputFile('-', io) : given
  return readJsonObject(text, '--args is a JSON object, such as \'{"path":"notes.txt"}\'.')
}
