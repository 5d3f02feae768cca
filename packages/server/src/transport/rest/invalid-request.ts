import { GatehouseError } from '@gatehouse/contract'
import type { z } from 'zod'
import type { Pointed } from './problem.ts'

/** A request that does not fit its route, with every place that does not fit. */
export class InvalidRequest extends GatehouseError {
  readonly errors: readonly Pointed[]

  constructor(errors: readonly Pointed[]) {
    const first = errors[0]
    super('InvalidRequest', {
      detail: first ? `${first.pointer || 'the body'}: ${first.detail}` : 'it does not fit',
    })
    this.errors = errors
  }
}

type Part = 'query' | 'body'

const escapePointer = (key: PropertyKey): string =>
  String(key).replaceAll('~', '~0').replaceAll('/', '~1')

const pointerOf = (part: Part, path: readonly PropertyKey[]): string =>
  part === 'query'
    ? `?${path.map(String).join('.')}`
    : path.map((key) => `/${escapePointer(key)}`).join('')

function known(schema: z.ZodType): string {
  const shape: unknown = 'shape' in schema ? schema.shape : undefined
  const names = typeof shape === 'object' && shape !== null ? Object.keys(shape) : []
  return names.length > 0 ? `; known here: ${names.join(', ')}` : ''
}

/** Turns what zod found into pointers, one for each field and each unknown key. */
export function pointedErrors(part: Part, schema: z.ZodType, error: z.ZodError): Pointed[] {
  return error.issues.flatMap((issue) =>
    issue.code === 'unrecognized_keys'
      ? issue.keys.map((key) => ({
          pointer: pointerOf(part, [...issue.path, key]),
          detail: `is not known${issue.path.length === 0 ? known(schema) : ''}`,
        }))
      : [{ pointer: pointerOf(part, issue.path), detail: issue.message }],
  )
}
