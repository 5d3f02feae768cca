import { GatehouseError } from '@gatehouse/contract'
import type { CapabilityContext } from '../../ports/capability.ts'
import type { UpstreamAnswer } from '../../ports/upstream.ts'
import { upstreamKey } from '../call/invoke.ts'
import type { Connections, Live } from './connections.ts'
import type { CallUpstream } from './tool-capability.ts'
import type { ToolTable } from './tool-table.ts'

export type CallDeps = {
  readonly connections: Connections
  readonly table: Pick<ToolTable, 'find' | 'hash'>
}

/** The gate's own deadline is what a call is bounded by; this one only has to lie behind it. */
const timeoutMs = 3_600_000
const failureMax = 32_768

const textOf = ({ content }: UpstreamAnswer): string =>
  content
    .map(({ type, text }) =>
      typeof text === 'string' ? text : `[${typeof type === 'string' ? type : 'content'}]`,
    )
    .join('\n')

/** @SECURITY Whoever reads the result can tell that it is from outside; upstream/calls.test.ts. */
const marked = (upstream: string, { isError: _isError, ...answer }: UpstreamAnswer) => ({
  ...answer,
  _meta: { ...answer._meta, [upstreamKey]: upstream },
})

/** @SECURITY Compared at each call with what this very connection has; upstream/pinning.test.ts. */
const assertPinned = (
  deps: CallDeps,
  { upstream, tool, hash }: Parameters<CallUpstream>[0],
  { tools }: Live,
): void => {
  const found = tools.find(({ name }) => name === tool)
  const detail =
    found === undefined
      ? 'the server does not have it any more'
      : deps.table.hash(found) === hash
        ? null
        : 'the server describes it otherwise than when it was accepted'
  if (detail !== null) throw new GatehouseError('UpstreamNotReviewed', { upstream, tool, detail })
}

/** Calls a tool in the name of an agent. What the server says of a failure reaches the agent as its words. */
export async function callTool(
  deps: CallDeps,
  call: Parameters<CallUpstream>[0],
  context: CapabilityContext,
): Promise<Record<string, unknown>> {
  const { upstream, tool } = call
  const record = deps.table.find(upstream)
  return deps.connections.with(record, context.agent.name, context.signal, async (live) => {
    assertPinned(deps, call, live)
    context.note({ upstream: { server: upstream, tool } })
    const answer = await live.connection.call({
      tool,
      arguments: call.arguments,
      signal: context.signal,
      timeout_ms: timeoutMs,
      progress: (done, total, message) => context.progress(done, total, message),
    })
    if (answer.isError !== true) return marked(upstream, answer)
    const said = textOf(answer).slice(0, failureMax)
    throw new GatehouseError('UpstreamToolFailed', {
      detail: said === '' ? `${tool} of ${upstream} failed without a word` : said,
    })
  })
}
