import type { agentRoutes } from '@gatehouse/contract/routes/agents'
import type { Handlers } from '../handler.ts'

export const agentHandlers: Handlers<typeof agentRoutes> = {
  listAgents: async (op, app) => ({ agents: await app.listAgents(op) }),
  createAgent: (op, app, input) => app.createAgent(op, input),
  showAgent: (op, app, input) => app.showAgent(op, input),
  pauseAgent: (op, app, input) => app.pauseAgent(op, input),
  resumeAgent: (op, app, input) => app.resumeAgent(op, input),
  rotateAgent: (op, app, input) => app.rotateAgent(op, input),
  revokeAgent: (op, app, input) => app.revokeAgent(op, input),
  restoreAgent: (op, app, input) => app.restoreAgent(op, input),
}
