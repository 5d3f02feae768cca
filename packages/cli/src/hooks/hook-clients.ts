/** Clients whose hooks the service understands. */
export const hookClients = ['claude-code', 'codex', 'gemini', 'cursor', 'copilot'] as const
export type HookClient = (typeof hookClients)[number]

/** What a client reads of a call that is blocked with exit code 2: the error output, and for some more than that. */
export function blockedOutput(client: string, reason: string): string {
  if (client === 'cursor') return JSON.stringify({ permission: 'deny', user_message: reason })
  // Copilot shows nothing of the error output to its model.
  if (client === 'copilot')
    return JSON.stringify({ permissionDecision: 'deny', permissionDecisionReason: reason })
  return ''
}
