import type { CapabilityResult, PendingApproval, RpcErrorObject } from '@gatehouse/contract'
import type { InvokeOutcome, ListedCapability } from '../../app/app.ts'
import type { Capability } from '../../ports/capability.ts'
import { refusedOutcome } from '../http/outcome.ts'

/** How MCP says what a capability is. Used by the WebSocket and by Streamable HTTP alike. */
export type Tool = {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly inputSchema: Readonly<Record<string, unknown>> & { readonly type: 'object' }
  readonly outputSchema: Readonly<Record<string, unknown>> & { readonly type: 'object' }
  readonly annotations: {
    readonly title: string
    readonly readOnlyHint: boolean
    readonly destructiveHint: boolean
    readonly idempotentHint: boolean
    readonly openWorldHint: boolean
  }
}

type Text = { readonly type: 'text'; readonly text: string }
export type ToolResult = {
  readonly content: readonly Text[]
  readonly structuredContent?: Readonly<Record<string, unknown>>
  readonly isError?: true
}

/** `filesystem.read` → `filesystem__read`. */
export const toolName = (capability: string): string => capability.replace('.', '__')

/**
 * `filesystem__read` → `filesystem.read`. A dotted name is no tool: it is turned into a name that no
 * capability has, so that the gate refuses, suggests and records it like any other unknown one.
 */
export const capabilityName = (tool: string): string =>
  tool.includes('.') ? tool.replaceAll('.', '__') : tool.replace('__', '.')

/** Groups, and single capabilities of others, whose reach does not end at this machine. */
const openWorld = new Set([
  ...['network', 'email', 'calendar', 'upstream', 'process'],
  ...['git.push', 'git.pull', 'git.fetch', 'git.clone'],
])

const pendingSchema = {
  type: 'object',
  properties: {
    status: { const: 'pending_approval' },
    approval_id: { type: 'string' },
    capability: { type: 'string' },
    message: { type: 'string' },
    expires_at: { type: 'string' },
  },
  required: ['status', 'approval_id', 'capability', 'message'],
} as const

/**
 * What `structuredContent` may be: the data, or the answer to a held call. Clients check results
 * against this and throw away what does not fit, so both must be in it.
 */
const outputSchema = (capability: Capability): Tool['outputSchema'] => {
  const { $defs, ...data } = capability.output_schema
  return {
    type: 'object',
    anyOf: [data, pendingSchema],
    ...($defs === undefined ? {} : { $defs }),
  }
}

/** `destructiveHint` and `idempotentHint` say nothing of a tool that only reads; then they are mild. */
const annotationsOf = (capability: Capability): Tool['annotations'] => {
  const reads = capability.effect === 'none'
  return {
    title: capability.title,
    readOnlyHint: reads,
    destructiveHint: !reads && capability.side_effects.some((effect) => !effect.reversible),
    idempotentHint: reads,
    openWorldHint: openWorld.has(capability.group) || openWorld.has(capability.name),
  }
}

type Rendered = { readonly tool: Tool; readonly json: string }

/** A definition never changes, so each is put into MCP's words once. */
const rendered = new WeakMap<Capability, Rendered>()

export const renderTool = (capability: Capability): Rendered => {
  const before = rendered.get(capability)
  if (before) return before
  const tool: Tool = {
    name: toolName(capability.name),
    title: capability.title,
    description: `${capability.purpose} ${capability.when_to_use}`.trim(),
    inputSchema: { ...capability.input_schema, type: 'object' },
    outputSchema: outputSchema(capability),
    annotations: annotationsOf(capability),
  }
  const made = { tool, json: JSON.stringify(tool) }
  rendered.set(capability, made)
  return made
}

const pageSize = 100

export type ToolPage = {
  readonly entries: readonly Rendered[]
  readonly nextCursor: string | null
}

const encodeCursor = (lastName: string): string =>
  Buffer.from(JSON.stringify(['tools', lastName])).toString('base64url')

/** The name a page ended with; null for a cursor that we did not make. */
const decodeCursor = (cursor: string): string | null => {
  try {
    const value: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    return Array.isArray(value) && value[0] === 'tools' && typeof value[1] === 'string'
      ? value[1]
      : null
  } catch {
    return null
  }
}

const byName = (a: ListedCapability, b: ListedCapability): number =>
  a.capability.name < b.capability.name ? -1 : 1

/** One page by name: the same tools come in the same order. Null for a bad cursor. */
export const pageOfTools = (
  listed: readonly ListedCapability[],
  cursor: string | undefined,
): ToolPage | null => {
  const after = cursor === undefined ? '' : decodeCursor(cursor)
  if (after === null) return null
  const rest = listed.toSorted(byName).filter(({ capability }) => capability.name > after)
  const page = rest.slice(0, pageSize)
  const last = page.at(-1)
  return {
    entries: page.map(({ capability }) => renderTool(capability)),
    nextCursor: rest.length > page.length && last ? encodeCursor(last.capability.name) : null,
  }
}

const failureResult = (error: {
  readonly type: string
  readonly message: string
  readonly recovery: unknown
}): ToolResult => ({
  content: [
    {
      type: 'text',
      text: JSON.stringify({
        error: error.type,
        message: error.message,
        recovery: error.recovery,
      }),
    },
  ],
  isError: true,
})

const dataResult = (data: Readonly<Record<string, unknown>>, text: string | null): ToolResult => ({
  content: [{ type: 'text', text: text ?? JSON.stringify(data) }],
  structuredContent: data,
})

const noted = (result: ToolResult, note: string | undefined): ToolResult =>
  note === undefined
    ? result
    : { ...result, content: [...result.content, { type: 'text', text: note }] }

/** From here on a text is worth finding in the data, where making JSON of it takes most of an answer. */
const longText = 256

const jsonOfData = (
  data: Readonly<Record<string, unknown>>,
  text: string,
  json: string,
): string => {
  const name = Object.keys(data).find((key) => data[key] === text)
  if (name === undefined) return JSON.stringify(data)
  const rest = JSON.stringify({ ...data, [name]: undefined })
  return `{${JSON.stringify(name)}:${json}${rest === '{}' ? '' : ','}${rest.slice(1)}`
}

/** A result as JSON. What a tool says as text often stands in its data too: that is escaped once. */
export const jsonOfResult = (result: ToolResult): string => {
  const { content, structuredContent } = result
  const first = content[0]?.text ?? ''
  if (structuredContent === undefined || content.length !== 1 || first.length < longText)
    return JSON.stringify(result)
  const text = JSON.stringify(first)
  const data = jsonOfData(structuredContent, first, text)
  return `{"content":[{"type":"text","text":${text}}],"structuredContent":${data}}`
}

const pendingResult = (pending: PendingApproval): ToolResult => dataResult(pending, null)

/** A stored result, as the tools/call that was held would have answered it. */
export const resultOfStored = (result: CapabilityResult, text: string | null): ToolResult =>
  result.success ? dataResult(result.data, text) : failureResult(result.error)

export type ToolOutcome = { readonly result: ToolResult } | { readonly error: RpcErrorObject }

/** What became of a call, as `tools/call` answers it. */
export const toolOutcome = (outcome: InvokeOutcome): ToolOutcome => {
  switch (outcome.kind) {
    case 'succeeded':
      return { result: noted(dataResult(outcome.data, outcome.text), outcome.note) }
    case 'failed':
      return { result: failureResult(outcome.error) }
    case 'pending':
      return { result: pendingResult(outcome.pending) }
    case 'unknown': {
      const did_you_mean = outcome.did_you_mean.map(toolName)
      return { error: { ...refusedOutcome(outcome), data: { did_you_mean } } }
    }
    default:
      return { error: refusedOutcome(outcome) }
  }
}

/** A failure the transport itself found: a result too large to send. */
export const failedTool = failureResult
