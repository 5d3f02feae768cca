import type { nodeRoutes } from '@gatehouse/contract/routes/nodes'
import type { Handlers } from '../handler.ts'

export const nodeHandlers: Handlers<typeof nodeRoutes> = {
  listNodes: (op, app) => app.listNodes(op),
  inviteNode: (op, app, input) => app.inviteNode(op, input),
  admitNode: (op, app, input) => app.admitNode(op, input),
  drainNode: (op, app, input) => app.drainNode(op, input),
  resumeNode: (op, app, input) => app.resumeNode(op, input),
  forgetNode: (op, app, input) => app.forgetNode(op, input),
}
