import { ForgottenNode, NodeList, ServerNode } from '../nodes.ts'
import { defineRoutes } from './define-routes.ts'

export const nodeRoutes = defineRoutes({
  listNodes: {
    method: 'GET',
    path: '/api/nodes',
    summary: 'Every node of this installation, with its status and what it runs',
    permission: 'read',
    answer: NodeList,
  },
  drainNode: {
    method: 'POST',
    path: '/api/nodes/:name/drain',
    summary: 'Let a node finish what it does and take nothing new',
    permission: 'nodes.manage',
    answer: ServerNode,
    errors: ['NodeNotFound', 'Conflict'],
  },
  resumeNode: {
    method: 'POST',
    path: '/api/nodes/:name/resume',
    summary: 'Let a node that is draining take work again',
    permission: 'nodes.manage',
    answer: ServerNode,
    errors: ['NodeNotFound', 'Conflict'],
  },
  forgetNode: {
    method: 'DELETE',
    path: '/api/nodes/:name',
    summary: 'Forget a node that has stopped or will not come back',
    permission: 'nodes.manage',
    answer: ForgottenNode,
    errors: ['NodeNotFound', 'Conflict'],
  },
})
