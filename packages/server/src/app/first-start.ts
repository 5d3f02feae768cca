import type { App } from './app.ts'
import type { Op } from './op.ts'

type FirstStart = { readonly cliToken: string; readonly agentToken: string | null }

/** What a new installation begins with: a token for the CLI and, unless it is not wanted, an agent. */
export async function firstStart(
  op: Op,
  app: App,
  input: { readonly firstAgent: boolean },
): Promise<FirstStart> {
  const { token: cliToken } = await app.createUserToken(op, { label: 'cli', role: 'operator' })
  if (!input.firstAgent) return { cliToken, agentToken: null }
  const created = await app.createAgent(op, {
    name: 'first-agent',
    purpose: 'The agent that came with the installation',
    approvals: 'pending',
    mounts: [],
  })
  return { cliToken, agentToken: created.token }
}
