import { z } from 'zod'

/**
 * The schemas of arguments that name a place in an agent's folders. `entry`: a thing by its name in its
 * folder, so that a last link is the thing itself.
 */
export const pathArguments = z.registry<{ readonly entry?: boolean }>()

const markOf = (schema: z.core.$ZodType): { readonly entry?: boolean } | null => {
  // An empty mark of a schema that was made from another one reads as none.
  if (pathArguments.has(schema)) return pathArguments.get(schema) ?? {}
  const def = schema._zod.def as {
    readonly innerType?: z.core.$ZodType
    readonly element?: z.core.$ZodType
  }
  const inner = def.innerType ?? def.element
  return inner === undefined ? null : markOf(inner)
}

/** The names of the arguments that are paths: policy sees where they lead, however they are written. */
export const pathArgumentsOf = (
  inputs: z.ZodObject,
): { readonly paths: readonly string[]; readonly entries: readonly string[] } => {
  const marked = Object.entries(inputs.shape).flatMap(([name, schema]) => {
    const mark = markOf(schema)
    return mark ? [{ name, entry: mark.entry ?? false }] : []
  })
  return {
    paths: marked.map(({ name }) => name),
    entries: marked.filter(({ entry }) => entry).map(({ name }) => name),
  }
}
