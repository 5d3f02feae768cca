import { createHash } from 'node:crypto'
import { type ErrorType, errorTable, type Preview } from '@gatehouse/contract'
import { explainIssue } from '@gatehouse/contract/explain-issue'
import stringify from 'safe-stable-stringify'
import { z } from 'zod'
import type { Awaitable } from '../domain/awaitable.ts'
import { resultBytesMax } from '../domain/result-bytes.ts'
import { fieldsOf, type JsonSchema } from '../domain/schema-fields.ts'
import type {
  Capability,
  CapabilityContext,
  ParsedArguments,
  PreviewContext,
  StandsFor,
} from '../ports/capability.ts'
import { pathArgumentsOf } from './path-argument.ts'
import { typedSchema } from './typed-schema.ts'

type Definition<I extends z.ZodObject, O extends z.ZodObject> = {
  readonly name: string
  readonly version: string
  /** A verb and its noun, unlike any other. */
  readonly title: string
  readonly purpose: string
  readonly when_to_use: string
  readonly inputs: I
  readonly outputs: O
  readonly tier: 'autonomous' | 'approval_required'
  readonly notify?: boolean
  readonly effect: 'none' | 'immediate' | 'buffered'
  readonly reach?: 'open'
  readonly performer?: 'client'
  readonly critical?: boolean
  readonly grants_bind?: boolean
  readonly side_effects?: Capability['side_effects']
  readonly destructive?: boolean
  readonly common_patterns?: Capability['common_patterns']
  readonly errors: readonly ErrorType[]
  readonly redact?: readonly (keyof z.output<I> & string)[]
  readonly waits?: boolean
  readonly timeout_seconds?: number
  readonly result_bytes_max?: number
  readonly result_bytes?: (args: z.output<I>) => number
  readonly deadline?: (args: z.output<I>) => number
  readonly text?: (data: z.output<O>) => string
  readonly preview?: (args: z.output<I>, ctx: PreviewContext) => Preview | Promise<Preview>
  /** Of one that acts at once. What is buffered is undone as the operation of its service says. */
  readonly undo?: (args: z.output<I>) => string | null
  readonly stands_for?: (args: z.output<I>) => StandsFor
  readonly resolve?: (
    args: z.output<I>,
    ctx: PreviewContext,
  ) => Promise<Readonly<Record<string, unknown>>>
  readonly run: (ctx: CapabilityContext, args: z.output<I>) => Awaitable<z.input<O>>
}

/** Of capabilities that answer with a path or an id, and may take long. */
export const smallResult = 256 * 1024

const jsonSchema = (schema: z.ZodObject, io: 'input' | 'output'): JsonSchema => {
  const { $schema, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any' })
  return {
    ...rest,
    ...(io === 'input' ? { additionalProperties: false } : {}),
    required: rest.required ?? [],
  }
}

const optional = [
  'deadline',
  'result_bytes',
  'text',
  'preview',
  'undo',
  'stands_for',
  'resolve',
] as const
type Optional = (typeof optional)[number]

/** The functions that a capability may do without; one that is not there is no member. */
const optionalOf = (
  given: Readonly<Partial<Record<Optional, unknown>>>,
): Pick<Capability, Optional> =>
  Object.fromEntries(
    optional.flatMap((name) => (given[name] === undefined ? [] : [[name, given[name]]])),
  ) as Pick<Capability, Optional>

const parsedBy = (
  inputs: z.ZodObject,
  schema: () => JsonSchema,
  given: unknown,
): ParsedArguments => {
  const parsed = inputs.safeParse(given)
  if (parsed.success) return { kind: 'valid', args: parsed.data }
  const problems = parsed.error.issues.flatMap((issue) => explainIssue(issue, given, schema()))
  return { kind: 'invalid', problems }
}

/** Arguments that are there in each call, since each of these fields makes a value of none. */
const defaultsOf = ({ shape }: z.ZodObject): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(shape).flatMap(([name, field]) => {
      const parsed = z.safeParse(field, undefined)
      return parsed.success && parsed.data !== undefined ? [[name, parsed.data]] : []
    }),
  )

/** Defaults for what most capabilities do not say. */
const unlessSaid = {
  notify: false,
  reach: 'closed',
  performer: 'service',
  critical: false,
  grants_bind: false,
} as const

type Unsaid = keyof typeof unlessSaid

const unsaidOf = (said: Partial<Pick<Capability, Unsaid>>): Pick<Capability, Unsaid> => {
  const { notify, reach, performer, critical, grants_bind } = { ...unlessSaid, ...said }
  return { notify, reach, performer, critical, grants_bind }
}

/** Fields that listings need beside the declaration. */
type Listing = Pick<
  Capability,
  'definition_hash' | 'input_schema' | 'output_schema' | 'description'
>

const listingOf = (
  d: Definition<z.ZodObject, z.ZodObject>,
  side_effects: Capability['side_effects'],
): Listing => {
  const input_schema = typedSchema(jsonSchema(d.inputs, 'input'))
  const output_schema = jsonSchema(d.outputs, 'output')
  const told = {
    name: d.name,
    version: d.version,
    purpose: d.purpose,
    when_to_use: d.when_to_use,
    inputs: fieldsOf(input_schema),
    outputs: fieldsOf(output_schema),
    common_patterns: [...(d.common_patterns ?? [])],
    errors: ['InvalidArguments' as const, ...d.errors].map((type) => ({
      type,
      message: errorTable[type].say,
      recovery: [...errorTable[type].recovery],
    })),
    side_effects,
    effect: d.effect,
    critical: d.critical ?? false,
  }
  const definition_hash = createHash('sha256')
    .update(stringify({ ...told, input_schema }) ?? '')
    .digest('hex')
  return {
    definition_hash: `sha256:${definition_hash}`,
    input_schema,
    output_schema,
    description: { ...told, title: d.title } as Capability['description'],
  }
}

/**
 * Declares a capability. Freezes it; touches nothing else. What listings need is derived when it is first read: a
 * start needs none of it, and deriving all took a tenth of one.
 */
export const defineCapability = <I extends z.ZodObject, O extends z.ZodObject>(
  d: Definition<I, O>,
): Capability => {
  const side_effects = [...(d.side_effects ?? [])]
  let derived: Listing | null = null
  const listing = (): Listing =>
    (derived ??= listingOf(d as unknown as Definition<z.ZodObject, z.ZodObject>, side_effects))
  return Object.freeze({
    name: d.name,
    group: d.name.split('.')[0] ?? d.name,
    version: d.version,
    title: d.title,
    purpose: d.purpose,
    when_to_use: d.when_to_use,
    origin: 'own',
    argument_names: Object.keys(d.inputs.shape),
    get argument_defaults() {
      return defaultsOf(d.inputs)
    },
    parse: (given: unknown) => parsedBy(d.inputs, () => listing().input_schema, given),
    tier: d.tier,
    effect: d.effect,
    ...unsaidOf(d),
    side_effects,
    destructive: d.destructive ?? side_effects.some(({ reversible }) => !reversible),
    common_patterns: d.common_patterns ?? [],
    errors: d.errors,
    redact: d.redact ?? [],
    ...pathArgumentsOf(d.inputs),
    waits: d.waits ?? false,
    timeout_seconds: d.timeout_seconds ?? 60,
    result_bytes_max: d.result_bytes_max ?? resultBytesMax,
    get definition_hash() {
      return listing().definition_hash
    },
    get input_schema() {
      return listing().input_schema
    },
    get output_schema() {
      return listing().output_schema
    },
    get description() {
      return listing().description
    },
    ...optionalOf(d),
    run: d.run as Capability['run'],
  })
}
