import { z } from 'zod'
import { defineRoutes } from './define-routes.ts'

/** Coding agents whose hooks ask here before they use a tool of their own. */
export const HookClient = z.enum(['claude-code', 'codex', 'gemini', 'cursor', 'copilot'])
export type HookClient = z.infer<typeof HookClient>

export const hookRoutes = defineRoutes({
  askHook: {
    method: 'POST',
    path: '/api/hooks/:hook_client',
    summary: 'Ask whether a client may use a tool of its own, in the form of that client',
    permission: 'hooks.ask',
    params: { hook_client: HookClient },
    /** Input of the client to its hook, as it is. */
    body: z.looseObject({}),
    /** Output that the client expects of its hook. */
    answer: z.looseObject({}),
    errors: ['AgentNotFound', 'RateLimited', 'Overloaded'],
  },
})
