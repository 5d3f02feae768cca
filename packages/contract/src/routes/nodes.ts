import {
  AdmitNode,
  ForgottenNode,
  InviteNode,
  NodeInvite,
  NodeKeys,
  NodeList,
  ServerNode,
} from '../nodes.ts'
import { defineRoutes } from './define-routes.ts'

export const nodeRoutes = defineRoutes({
  listNodes: {
    method: 'GET',
    path: '/api/nodes',
    summary: 'Every node of this installation, with its status and what it runs',
    permission: 'read',
    answer: NodeList,
  },
  inviteNode: {
    method: 'POST',
    path: '/api/nodes/invite',
    summary: 'A one-time secret for which another node gets the keys; the one before it ends',
    permission: 'nodes.manage',
    body: InviteNode,
    answer: NodeInvite,
    success: 201,
    errors: ['Conflict'],
  },
  admitNode: {
    method: 'POST',
    path: '/api/nodes/admit',
    summary: 'The keys of this installation, for the secret of an invitation, once',
    permission: 'public',
    body: AdmitNode,
    bodyBytesMax: 1_024,
    answer: NodeKeys,
    errors: ['NodeInviteInvalid'],
  },
  drainNode: {
    method: 'POST',
    path: '/api/nodes/:name/drain',
    summary: 'Let a node finish its work and take no new work',
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
    summary: 'Remove a node that has stopped for good',
    permission: 'nodes.manage',
    answer: ForgottenNode,
    errors: ['NodeNotFound', 'Conflict'],
  },
})
