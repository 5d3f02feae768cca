/** As much of an OpenAPI document as the page reads. */
type Schema = {
  readonly type?: string
  readonly $ref?: string
  readonly [key: string]: unknown
}
type Content = { readonly content?: Readonly<Record<string, { readonly schema?: Schema }>> }
type Answer = Content & { readonly description?: string }
type Described = {
  readonly operationId: string
  readonly summary?: string
  readonly parameters?: readonly {
    readonly name: string
    readonly in: string
    readonly required?: boolean
    readonly schema?: Schema
  }[]
  readonly requestBody?: Content
  readonly responses: Readonly<Record<string, Answer | { readonly $ref: string }>>
}
export type OpenApi = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>
  readonly components?: {
    readonly schemas?: Readonly<Record<string, Schema>>
    readonly responses?: Readonly<Record<string, Answer>>
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

/** The operations in the order of the document. */
export const operationsIn = ({ paths, components }: OpenApi): readonly Operation[] => {
  const { schemas = {}, responses = {} } = components ?? {}
  const answerOf = (answer: Described['responses'][string]): Answer =>
    '$ref' in answer ? (responses[answer.$ref.split('/').at(-1) ?? ''] ?? {}) : answer
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) => ({
      id: described.operationId,
      method: method.toUpperCase(),
      path,
      summary: described.summary ?? '',
      parameters: (described.parameters ?? []).map(
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
