import { GatehouseError } from '@gatehouse/contract'
import { explainIssue, type JsonSchema } from '@gatehouse/contract/explain-issue'
import { z } from 'zod'
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

/** Schema of the fields, for the words of an error. */
const described = new WeakMap<z.ZodType, JsonSchema>()

const describe = (schema: z.ZodType): JsonSchema => {
  const before = described.get(schema)
  if (before) return before
  const made: JsonSchema = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })
  described.set(schema, made)
  return made
}

/** Turns what zod found into pointers, one for each field and each unknown key. */
export function pointedErrors(
  part: Part,
  schema: z.ZodType,
  error: z.ZodError,
  given: unknown,
): Pointed[] {
  const fields = describe(schema)
  return error.issues
    .flatMap((issue) => explainIssue(issue, given, fields))
    .map(({ path, detail }) => ({ pointer: pointerOf(part, path), detail }))
}
