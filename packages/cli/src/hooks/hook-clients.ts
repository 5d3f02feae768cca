/** Clients whose hooks the service understands. */
export const hookClients = ['claude-code', 'codex', 'gemini', 'cursor', 'copilot'] as const
export type HookClient = (typeof hookClients)[number]

/** Output that a client reads for a call that is blocked with exit code 2: the error output, and for some more than that. */
export function blockedOutput(client: string, reason: string): string {
  if (client === 'cursor') return JSON.stringify({ permission: 'deny', user_message: reason })
  // Copilot shows nothing of the error output to its model.
  if (client === 'copilot')
    return JSON.stringify({ permissionDecision: 'deny', permissionDecisionReason: reason })
  return ''
}

/**
 * The answer to an event of Cursor for whatever tool, where a shell line and a tool of an MCP server have events of
 * their own that tell more: a person is not asked twice. Null for what is asked here.
 */
export function leftToOwnEvent(given: Readonly<Record<string, unknown>>): string | null {
  const { hook_event_name: event, tool_name: tool } = given
  if (event !== 'preToolUse' || typeof tool !== 'string') return null
  return tool === 'Shell' || tool.startsWith('MCP:')
    ? JSON.stringify({ permission: 'allow' })
    : null
}
