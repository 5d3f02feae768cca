export type Call = {
  readonly capability: string
  readonly args: Record<string, unknown>
  /** What stands after an arrow: a field of the result and its value. */
  readonly result: { readonly field: string; readonly value: string } | null
}

/** `git.status {"path": "app"}`, with the object over several lines where it is long, and `→ version 3` after it. */
export const readCalls = (text: string): Call[] =>
  [...text.matchAll(/^([a-z]+\.[a-z_]+)\s+(\{[^]*?\})(?:\s*→ (\w+) (\S+))?\s*$/gm)].map((match) => {
    const [, capability = '', args = '', field, value] = match
    return {
      capability,
      args: JSON.parse(args),
      result: field !== undefined && value !== undefined ? { field, value } : null,
    }
  })
