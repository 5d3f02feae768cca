import { createHash } from 'node:crypto'
import { isMembers, type Members } from './config-format.ts'

const known = new Set(['type', 'command', 'commandWindows', 'timeout', 'async', 'statusMessage'])
const waitSeconds = 600

const isText = (value: unknown): value is string => typeof value === 'string'

/** Members in the order of their names, those without a value left out. */
const sorted = (members: Members): Members =>
  Object.fromEntries(
    Object.entries(members)
      .filter(([, value]) => value !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  )

/**
 * The hash under which Codex keeps that a person trusts a hook before tools: of the first handler of a group, as Codex
 * reads it. Null for one with members that are not known here. Compared with Codex's own in coding-agents.test.ts.
 */
export function codexHookHash(
  { matcher, hooks }: Members,
  platform: NodeJS.Platform,
): string | null {
  const handler: unknown = Array.isArray(hooks) ? hooks[0] : undefined
  if (!isMembers(handler) || Object.keys(handler).some((name) => !known.has(name))) return null
  const { command, commandWindows, timeout, async, statusMessage } = handler
  const line = platform === 'win32' && isText(commandWindows) ? commandWindows : command
  const seconds = typeof timeout === 'number' ? Math.max(timeout, 1) : waitSeconds
  const read = sorted({
    type: 'command',
    command: line,
    timeout: seconds,
    async: async === true,
    statusMessage: isText(statusMessage) ? statusMessage : undefined,
  })
  const identity = sorted({
    event_name: 'pre_tool_use',
    hooks: [read],
    matcher: isText(matcher) ? matcher : undefined,
  })
  return `sha256:${createHash('sha256').update(JSON.stringify(identity)).digest('hex')}`
}
