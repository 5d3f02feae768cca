import type { agentRoutes } from '@gatehouse/contract/routes/agents'
import { type Handlers, Refusal, Reply } from '../handler.ts'
import { toolListOf } from '../tool-list.ts'
import { etagOf } from '../versions.ts'

const versioned = <T>(record: T, version: number): Reply<T> =>
  new Reply(record, { headers: { etag: etagOf(version) } })

export const agentHandlers: Handlers<typeof agentRoutes> = {
  listAgents: async (op, app) => ({ agents: await app.listAgents(op) }),
  createAgent: (op, app, input) => app.createAgent(op, input),
  async showAgent(op, app, input) {
    const agent = await app.showAgent(op, input)
    const tool_list = toolListOf(app, await app.listToolsOf(op, input))
    return versioned({ ...agent, tool_list }, agent.version)
  },
  async editAgent(op, app, { name, ...changes }, { versions }) {
    const { kind, ...edited } = await app.editAgent(op, { name, changes, versions })
    const { version } = edited.agent
    return 'warnings' in edited
      ? versioned(edited, version)
      : new Refusal('AgentChanged', { agent: name, version }, { current: edited.agent })
  },
  pauseAgent: (op, app, input) => app.pauseAgent(op, input),
  resumeAgent: (op, app, input) => app.resumeAgent(op, input),
  rotateAgent: (op, app, input) => app.rotateAgent(op, input),
  moveAgent: (op, app, input) => app.moveAgent(op, input),
  revokeAgent: (op, app, input) => app.revokeAgent(op, input),
  restoreAgent: (op, app, input) => app.restoreAgent(op, input),
}
