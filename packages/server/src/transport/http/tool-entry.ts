import { type PermissionTier, toolName } from '@gatehouse/contract'
import { type MirroredArgument, mirroredKeyword } from '@gatehouse/contract/mirrored-arguments'
import type { ListedCapability } from '../../app/call/invoke.ts'
import type { ToolNames } from './tool-names.ts'
import { firstSentence, shortInput } from './tool-schema.ts'

type Capability = ListedCapability['capability']
type Schema = Readonly<Record<string, unknown>>

/**
 * How MCP says what a capability is. Used by the WebSocket and by Streamable HTTP alike. What a model does not
 * need to call it is left out: it pays for each tool with every request. `agent.capabilities` tells all.
 */
export type Tool = {
  readonly name: string
  readonly description: string
  readonly inputSchema: Schema & { readonly type: 'object' }
  readonly annotations: {
    readonly readOnlyHint?: true
    readonly destructiveHint?: boolean
    readonly openWorldHint: boolean
  }
}

/** A hint that is missing is read as false by some clients and as true by others, but for `readOnlyHint`. */
const annotationsOf = ({ side_effects, destructive, reach }: Capability): Tool['annotations'] => ({
  ...(side_effects.length > 0 ? { destructiveHint: destructive } : { readOnlyHint: true }),
  openWorldHint: reach === 'open',
})

/** Said of the tools whose calls wait for a person; those of the others run at once. */
const asks = 'Tier: approval_required.'

/** A tool, the JSON of it, and the same for clients that say some arguments in headers, too. */
export type RenderedTool = { readonly tool: Tool; readonly json: string; readonly annotated: Tool }
type ByTier = { [tier in PermissionTier]?: RenderedTool }

/** A definition never changes, so each is put into MCP's words once for each tier. */
const rendered = new WeakMap<Capability, ByTier>()

const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const annotate = (schema: Schema, [name, ...below]: readonly string[], header: string): Schema => {
  if (name === undefined) return { ...schema, [mirroredKeyword]: header }
  const { properties } = schema
  const inner = isSchema(properties) ? properties[name] : undefined
  if (!isSchema(properties) || !isSchema(inner)) return schema
  return { ...schema, properties: { ...properties, [name]: annotate(inner, below, header) } }
}

const annotated = (tool: Tool, mirrored: readonly MirroredArgument[]): Tool => {
  const inputSchema = mirrored.reduce<Schema>(
    (schema, { path, header }) => annotate(schema, path, header),
    tool.inputSchema,
  )
  return { ...tool, inputSchema: inputSchema as Tool['inputSchema'] }
}

/** Clients read both lists of arguments without asking whether they are there, so an empty one is listed, too. */
const listedSchema = (schema: Schema): Tool['inputSchema'] => {
  const { properties, required } = schema
  return {
    ...schema,
    type: 'object',
    properties: isSchema(properties) ? properties : {},
    required: Array.isArray(required) ? required : [],
  }
}

/** Puts a capability into MCP's words, with the names that are called there. */
export const renderTool = (
  { capability, tier }: ListedCapability,
  names: ToolNames,
): RenderedTool => {
  const known = rendered.get(capability) ?? {}
  const before = known[tier]
  if (before) return before
  const { purpose } = capability
  const when = firstSentence(capability.when_to_use)
  const said = tier === 'autonomous' ? `${purpose} ${when}` : `${purpose} ${when} ${asks}`
  const isOwn = capability.origin === 'own'
  const schema = capability.input_schema
  const tool: Tool = {
    name: toolName(capability.name),
    description: isOwn ? names.text(said) : said,
    // Of a server's own schema nothing may be left out: we don't know what its model needs.
    inputSchema: listedSchema((isOwn ? names.schema(shortInput(schema)) : schema) as Schema),
    annotations: annotationsOf(capability),
  }
  const { mirrored } = capability
  const made = {
    tool,
    json: JSON.stringify(tool),
    annotated: mirrored ? annotated(tool, mirrored) : tool,
  }
  rendered.set(capability, { ...known, [tier]: made })
  return made
}
