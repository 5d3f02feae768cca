import {
  type CapabilityResult,
  type PendingApproval,
  type Recovery,
  toolName,
} from '@gatehouse/contract'
import { type InvokeOutcome, type ListedCapability, upstreamKey } from '../../app/call/invoke.ts'
import { type Answered, refusedOutcome } from '../http/outcome.ts'
import { type RenderedTool, renderTool } from '../http/tool-entry.ts'
import type { ToolNames } from '../http/tool-names.ts'

/** A text, or whatever else an upstream server answers with. */
type Content = { readonly type: string; readonly text?: string }
export type ToolResult = {
  readonly content: readonly Content[]
  readonly structuredContent?: Readonly<Record<string, unknown>>
  readonly _meta?: Readonly<Record<string, unknown>>
  readonly isError?: true
}

/** Many clients read the first page alone, so it holds whatever one agent is likely to have. */
const pageSize = 2_000

export type ToolPage = {
  readonly entries: readonly RenderedTool[]
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
  names: ToolNames,
): ToolPage | null => {
  const after = cursor === undefined ? '' : decodeCursor(cursor)
  if (after === null) return null
  const rest = listed.toSorted(byName).filter(({ capability }) => capability.name > after)
  const page = rest.slice(0, pageSize)
  const last = page.at(-1)
  return {
    entries: page.map((entry) => renderTool(entry, names)),
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

const isMembers = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Data of a tool of an upstream server is a result of MCP already; no capability of ours has such a member. */
const passedThrough = ({
  content,
  structuredContent,
  _meta,
}: Readonly<Record<string, unknown>>): ToolResult | null =>
  isMembers(_meta) && upstreamKey in _meta && Array.isArray(content)
    ? {
        content: content as Content[],
        ...(isMembers(structuredContent) ? { structuredContent } : {}),
        _meta,
      }
    : null

const dataResult = (data: Readonly<Record<string, unknown>>, text: string | null): ToolResult =>
  passedThrough(data) ?? {
    content: [{ type: 'text', text: text ?? JSON.stringify(data) }],
    structuredContent: data,
  }

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
  const { content, structuredContent, _meta } = result
  const first = content[0]?.text ?? ''
  if (
    _meta !== undefined ||
    structuredContent === undefined ||
    content.length !== 1 ||
    first.length < longText
  )
    return JSON.stringify(result)
  const text = JSON.stringify(first)
  const data = jsonOfData(structuredContent, first, text)
  return `{"content":[{"type":"text","text":${text}}],"structuredContent":${data}}`
}

export const pendingResult = (pending: PendingApproval, names: ToolNames): ToolResult =>
  dataResult({ ...pending, message: names.text(pending.message) }, null)

export type StoredResult = {
  readonly capability: string
  readonly result: CapabilityResult
  readonly text: string | null
  readonly note?: string | undefined
}

/** A stored result, as the tools/call that was held would have answered it. */
export const resultOfStored = (
  { capability, result, text, note }: StoredResult,
  names: ToolNames,
): ToolResult => {
  if (!result.success) return failureResult(names.error(result.error))
  const [group = ''] = capability.split('.')
  return noted(dataResult(names.data(group, result.data), text), note)
}

/** Answer to `tools/call`; `pending` is of a call that waits for a person. */
export type AnsweredTool = Answered<ToolResult> & { readonly pending?: PendingApproval }

/** Outcome of a call with these arguments, as `tools/call` answers it. */
export const toolOutcome = (
  outcome: InvokeOutcome,
  names: ToolNames,
  given: unknown,
): AnsweredTool => {
  switch (outcome.kind) {
    case 'succeeded': {
      const data = names.data(outcome.capability.group, outcome.data)
      const note = outcome.note === undefined ? undefined : names.text(outcome.note, given)
      return { result: noted(dataResult(data, outcome.text), note) }
    }
    case 'failed':
      return { result: failureResult(names.error(outcome.error, given)) }
    case 'pending':
      return { result: pendingResult(outcome.pending, names), pending: outcome.pending }
    case 'unknown': {
      const { capability } = outcome
      const { message, ...error } = names.error(outcome.error)
      return {
        error: refusedOutcome({
          ...outcome,
          error: { ...error, message: message.replace(capability, () => toolName(capability)) },
          did_you_mean: outcome.did_you_mean.map(toolName),
        }),
      }
    }
    // Limits speak of patterns as policy writes them.
    case 'limited':
    case 'overloaded':
      return { error: refusedOutcome(outcome) }
    case 'denied': {
      const refused = refusedOutcome(outcome)
      return { error: { ...refused, message: names.text(refused.message, given) } }
    }
  }
}

/** A failure that a transport found, or that the gate threw. */
export const failedTool = (
  error: {
    readonly type: string
    readonly message: string
    readonly recovery: readonly Recovery[]
  },
  names: ToolNames,
  given?: unknown,
): ToolResult => {
  const { type, message, recovery } = error
  return failureResult(names.error({ type, message, recovery: [...recovery] }, given))
}
