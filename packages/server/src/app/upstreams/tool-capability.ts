import { type ErrorType, errorTable } from '@gatehouse/contract'
import {
  type MirroredArgument,
  mirroredArguments,
  mirroredKeyword,
  tooLongForHeaders,
} from '@gatehouse/contract/mirrored-arguments'
import { resultBytesMax } from '../../domain/result-bytes.ts'
import { fieldsOf, type JsonSchema } from '../../domain/schema-fields.ts'
import { visibleText } from '../../domain/upstream/visible-text.ts'
import type { Capability, CapabilityContext } from '../../ports/capability.ts'
import type { ToolCall, UpstreamSchemas, WireTool } from '../../ports/upstream.ts'

/** A call of a tool, from the gate. */
export type CallUpstream = (
  call: ToolCall,
  context: CapabilityContext,
) => Promise<Record<string, unknown>>

export type ToolOf = {
  readonly upstream: string
  readonly capability: string
  readonly hash: string
  /** Of the definition and of the server that it belongs to. */
  readonly definition_hash: string
  readonly definition: WireTool
  /** Where it stands for another method of MCP. */
  readonly method: string | undefined
}

const descriptionMax = 4_000
const schemaTextMax = 1_000
const titleMax = 100
const timeoutSeconds = 300
/** Nearly all results are smaller. Room for the largest would make calls wait for each other. */
const usualResultBytes = 512 * 1024

const errors: readonly ErrorType[] = [
  'UpstreamToolFailed',
  'UpstreamFailed',
  'UpstreamNeedsLogin',
  'UpstreamCredentialMissing',
  'UpstreamNotReviewed',
  'UpstreamCertificateChanged',
  'SandboxUnavailable',
]

const isSchema = (value: unknown): value is JsonSchema =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const textAt = (value: unknown, key: string): string | null => {
  const text = isSchema(value) ? value[key] : undefined
  return typeof text === 'string' && text !== '' ? text : null
}

/** Keywords that tell a reader something and mean nothing to a check. */
const telling: ReadonlySet<string> = new Set(['description', 'title', '$comment'])

/**
 * The schema as models are shown it: its texts hold nothing that a person would not see, and nothing says which argument
 * goes into a header, as that is for clients alone.
 */
const shownSchema = (value: unknown, isMap = false): unknown => {
  if (Array.isArray(value)) return value.map((item) => shownSchema(item))
  if (!isSchema(value)) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => isMap || key !== mirroredKeyword)
      .map(([key, inner]) => [
        key,
        !isMap && telling.has(key) && typeof inner === 'string'
          ? visibleText(inner, schemaTextMax)
          : shownSchema(inner, !isMap && key === 'properties'),
      ]),
  )
}

const inputSchemaOf = ({ inputSchema }: WireTool): JsonSchema => ({
  ...(isSchema(inputSchema) ? (shownSchema(inputSchema) as JsonSchema) : {}),
  type: 'object',
})

/** Arguments that the server calls secret: they are not kept. */
const secretArguments = ({ properties }: JsonSchema): readonly string[] =>
  Object.entries(isSchema(properties) ? properties : {}).flatMap(([name, property]) =>
    isSchema(property) && (property['writeOnly'] === true || property['format'] === 'password')
      ? [name]
      : [],
  )

/** @SECURITY Headers are in the logs of whatever passes them on: no secret goes into one; upstream/features.test.ts. */
const askedOfClients = (all: readonly MirroredArgument[], secrets: readonly string[]) => {
  const mirrored = all.filter(({ path: [name = ''] }) => !secrets.includes(name))
  return mirrored.length === 0 ? {} : { mirrored }
}

const outputSchema: JsonSchema = {
  type: 'object',
  properties: {
    content: { type: 'array', items: { type: 'object' }, description: 'Text, images, resources.' },
    structuredContent: { description: 'The same as data, where the server gives it.' },
  },
  required: ['content'],
}

/** Text of a result: what a person or a model reads of it. */
const resultText = (data: Readonly<Record<string, unknown>>): string =>
  (Array.isArray(data['content']) ? data['content'] : [])
    .map((block: unknown) => textAt(block, 'text') ?? `[${textAt(block, 'type') ?? 'content'}]`)
    .join('\n')

const titleOf = (definition: WireTool): string =>
  visibleText(
    textAt(definition, 'title') ?? textAt(definition['annotations'], 'title') ?? definition.name,
    titleMax,
  )

const toldOf = ({ upstream, capability, definition }: ToolOf, input_schema: JsonSchema) => ({
  name: capability,
  title: titleOf(definition),
  version: '1.0.0',
  purpose: visibleText(textAt(definition, 'description') ?? 'No description.', descriptionMax),
  when_to_use: `A tool of the upstream server ${upstream}, in the server's own words.`,
  inputs: fieldsOf(input_schema),
  outputs: fieldsOf(outputSchema),
  common_patterns: [],
  errors: ['InvalidArguments' as const, ...errors].map((type) => ({
    type,
    message: errorTable[type].say,
    recovery: [...errorTable[type].recovery],
  })),
  side_effects: [{ what: `whatever ${upstream} does with the call`, reversible: false }],
  effect: 'immediate' as const,
  critical: false,
})

/**
 * The capability that stands for a tool of a server. It asks a person unless policy says otherwise, whatever the
 * server says of itself.
 */
export const toolCapability = (
  given: ToolOf,
  schemas: UpstreamSchemas,
  call: CallUpstream,
): Capability => {
  const { upstream, capability, hash, definition, definition_hash } = given
  const input_schema = inputSchemaOf(definition)
  const compiled = schemas.compile(
    (isSchema(definition['inputSchema']) ? definition['inputSchema'] : {}) as never,
  )
  const told = toldOf(given, input_schema)
  const redact = secretArguments(input_schema)
  const mirrored = mirroredArguments(definition['inputSchema'])
  return Object.freeze({
    name: capability,
    group: upstream,
    version: told.version,
    title: told.title,
    purpose: told.purpose,
    when_to_use: told.when_to_use,
    performer: 'service' as const,
    origin: 'upstream' as const,
    ...(given.method === undefined ? {} : { method: given.method }),
    argument_names: told.inputs.map(({ name }) => name),
    // The server fills them in itself: neither a call nor policy sees them here.
    argument_defaults: {},
    parse(arguments_: unknown) {
      const tooLong = tooLongForHeaders(mirrored, arguments_)
      const problems =
        compiled.kind === 'usable'
          ? [
              ...compiled.check(arguments_),
              ...(tooLong ? [{ ...tooLong, kind: 'wrong' as const }] : []),
            ]
          : [{ path: [], kind: 'wrong' as const, detail: compiled.problem }]
      return problems.length === 0
        ? { kind: 'valid' as const, args: arguments_ as Readonly<Record<string, unknown>> }
        : { kind: 'invalid' as const, problems }
    },
    tier: 'approval_required' as const,
    notify: false,
    effect: told.effect,
    reach: 'open' as const,
    critical: false,
    grants_bind: false,
    side_effects: told.side_effects,
    destructive: true,
    common_patterns: [],
    errors,
    redact,
    ...askedOfClients(mirrored, redact),
    paths: [],
    entries: [],
    waits: false,
    timeout_seconds: timeoutSeconds,
    result_bytes_max: resultBytesMax,
    result_bytes: () => usualResultBytes,
    definition_hash,
    input_schema,
    output_schema: outputSchema,
    description: told,
    text: resultText,
    preview: (args: Readonly<Record<string, unknown>>) => ({
      kind: 'command' as const,
      text: `${definition.name} of the upstream server ${upstream}\n${JSON.stringify(args, null, 2)}`,
    }),
    run: (context: CapabilityContext, args: Readonly<Record<string, unknown>>) =>
      call({ upstream, capability, tool: definition.name, hash, arguments: args }, context),
  } satisfies Capability)
}
