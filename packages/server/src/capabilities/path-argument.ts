import { z } from 'zod'

/** The schemas of arguments that name a place in an agent's folders. */
export const pathArguments = z.registry<Record<never, never>>()

const isPath = (schema: z.core.$ZodType): boolean => {
  if (pathArguments.has(schema)) return true
  const def = schema._zod.def as {
    readonly innerType?: z.core.$ZodType
    readonly element?: z.core.$ZodType
  }
  const inner = def.innerType ?? def.element
  return inner !== undefined && isPath(inner)
}

/** The names of the arguments that are paths: policy sees where they lead, however they are written. */
export const pathArgumentsOf = (inputs: z.ZodObject): readonly string[] =>
  Object.entries(inputs.shape)
    .filter(([, schema]) => isPath(schema))
    .map(([name]) => name)
