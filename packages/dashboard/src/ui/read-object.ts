import { common } from '../messages/common.ts'

/** A JSON object that somebody typed, or what is wrong with the text. */
export function readObject(
  written: string,
): { readonly value: Readonly<Record<string, unknown>> } | { readonly problem: string } {
  let value: unknown
  try {
    value = JSON.parse(written)
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) }
  }
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? { value: value as Readonly<Record<string, unknown>> }
    : { problem: common.notAnObject }
}
