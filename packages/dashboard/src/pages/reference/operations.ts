/** As much of an OpenAPI document as the page reads. */
type Schema = {
  readonly type?: string
  readonly $ref?: string
  readonly [key: string]: unknown
}
type Content = { readonly content?: Readonly<Record<string, { readonly schema?: Schema }>> }
type Answer = Content & { readonly description?: string }
type Reference = { readonly $ref: string }
type Parameter = {
  readonly name: string
  readonly in: string
  readonly required?: boolean
  readonly schema?: Schema
}
type Described = {
  readonly operationId: string
  readonly summary?: string
  readonly parameters?: readonly (Parameter | Reference)[]
  readonly requestBody?: Content
  readonly responses: Readonly<Record<string, Answer | Reference>>
}
export type OpenApi = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>
  readonly components?: {
    readonly schemas?: Readonly<Record<string, Schema>>
    readonly responses?: Readonly<Record<string, Answer>>
    readonly parameters?: Readonly<Record<string, Parameter>>
  }
}

export type Operation = {
  readonly id: string
  readonly method: string
  readonly path: string
  readonly summary: string
  readonly parameters: readonly string[]
  readonly body: Schema | undefined
  readonly answers: readonly {
    readonly status: string
    readonly text: string
    readonly schema: Schema | undefined
  }[]
}

const schemaIn = ({ content = {} }: Content): Schema | undefined =>
  Object.values(content)[0]?.schema

const depthMax = 4

/** The schema with what it refers to in its place, to the depth that a person reads. */
function resolved(
  schema: Schema | undefined,
  schemas: Readonly<Record<string, Schema>>,
  depth = 0,
): Schema | undefined {
  if (!schema) return undefined
  const name = schema.$ref?.split('/').at(-1)
  if (name !== undefined)
    return depth >= depthMax ? { $ref: name } : resolved(schemas[name], schemas, depth + 1)
  return Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [key, within(value, schemas, depth)]),
  )
}

const within = (
  value: unknown,
  schemas: Readonly<Record<string, Schema>>,
  depth: number,
): unknown => {
  if (Array.isArray(value)) return (value as unknown[]).map((one) => within(one, schemas, depth))
  if (typeof value === 'object' && value !== null) return resolved(value as Schema, schemas, depth)
  return value
}

const sharedPart = <P>({ $ref }: Reference, parts: Readonly<Record<string, P>>): P | undefined =>
  parts[$ref.split('/').at(-1) ?? '']

/** The operations in the order of the document. */
export const operationsIn = ({ paths, components }: OpenApi): readonly Operation[] => {
  const { schemas = {}, responses = {}, parameters = {} } = components ?? {}
  const answerOf = (answer: Answer | Reference): Answer =>
    '$ref' in answer ? (sharedPart(answer, responses) ?? {}) : answer
  const parameterOf = (one: Parameter | Reference): readonly Parameter[] => {
    const parameter = '$ref' in one ? sharedPart(one, parameters) : one
    return parameter ? [parameter] : []
  }
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) => ({
      id: described.operationId,
      method: method.toUpperCase(),
      path,
      summary: described.summary ?? '',
      parameters: (described.parameters ?? [])
        .flatMap(parameterOf)
        .map(
          (one) =>
            `${one.name} (${one.in}${one.required === true ? ', required' : ''})${one.schema?.type === undefined ? '' : `: ${one.schema.type}`}`,
        ),
      body: described.requestBody && resolved(schemaIn(described.requestBody), schemas),
      answers: Object.entries(described.responses).map(([status, told]) => {
        const answer = answerOf(told)
        return {
          status,
          text: answer.description ?? '',
          schema: resolved(schemaIn(answer), schemas),
        }
      }),
    })),
  )
}

/** Whether all the words stand in what a person would look for. */
export const fits = ({ id, method, path, summary }: Operation, words: string): boolean => {
  const text = `${id} ${method} ${path} ${summary}`.toLowerCase()
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word))
}
