import { z } from 'zod'
import { pathArguments } from '../path-argument.ts'

export const version = '1.0'

export const toolField = z
  .string()
  .min(1)
  .max(128)
  .describe('What the client calls the tool that it would use.')

/** Absolute: a client's own tools know nothing of the workspace. */
export const placeField = (what: string) =>
  z
    .string()
    .min(1)
    .max(4096)
    .regex(/^\//, 'expected an absolute path')
    .describe(what)
    .register(pathArguments, {})

/** Answer of every one of these: nothing has run here. */
export const outputs = z.object({
  permitted: z.literal(true).describe('The client may do it now, once.'),
})

export const permit = async (): Promise<{ readonly permitted: true }> => ({ permitted: true })

/** The client acts on the machine as its user. */
export const unconfined =
  'by the client itself, as its user, without the sandbox that programs of the gate have'
