import {
  Agent,
  AgentDetail,
  AgentList,
  AgentWithToken,
  CreateAgent,
  RotateAgent,
} from '@gatehouse/contract'
import { z } from 'zod'
import { created, defineRoute, ok, type Route } from '../define.ts'
import { pathName } from '../fields.ts'

const params = z.object({ name: pathName })

const list = defineRoute({
  method: 'GET',
  path: '/api/agents',
  operationId: 'listAgents',
  summary: 'Every agent, by name',
  permission: 'read',
  response: AgentList,
  errors: [],
  handle: async (op, app) => ok({ agents: await app.listAgents(op) }),
})

const create = defineRoute({
  method: 'POST',
  path: '/api/agents',
  operationId: 'createAgent',
  summary: 'Create an agent; its token is in the answer and never shown again',
  permission: 'agents.manage',
  body: CreateAgent,
  response: AgentWithToken,
  success: 201,
  errors: ['AgentExists'],
  handle: async (op, app, { body }) => created(await app.createAgent(op, body)),
})

const show = defineRoute({
  method: 'GET',
  path: '/api/agents/:name',
  operationId: 'showAgent',
  summary: 'One agent with its sessions and its numbers',
  permission: 'read',
  params,
  response: AgentDetail,
  errors: ['AgentNotFound'],
  handle: async (op, app, { params: { name } }) => ok(await app.showAgent(op, { name })),
})

const pause = defineRoute({
  method: 'POST',
  path: '/api/agents/:name/pause',
  operationId: 'pauseAgent',
  summary: 'Refuse every new call of an agent until it is resumed',
  permission: 'agents.manage',
  params,
  response: Agent,
  errors: ['AgentNotFound', 'AgentStateConflict'],
  handle: async (op, app, { params: { name } }) => ok(await app.pauseAgent(op, { name })),
})

const resume = defineRoute({
  method: 'POST',
  path: '/api/agents/:name/resume',
  operationId: 'resumeAgent',
  summary: 'Accept the calls of a paused agent again',
  permission: 'agents.manage',
  params,
  response: Agent,
  errors: ['AgentNotFound', 'AgentStateConflict'],
  handle: async (op, app, { params: { name } }) => ok(await app.resumeAgent(op, { name })),
})

const rotate = defineRoute({
  method: 'POST',
  path: '/api/agents/:name/rotate',
  operationId: 'rotateAgent',
  summary: 'Give an agent a new token; the old one ends at once, or after an overlap',
  permission: 'agents.manage',
  params,
  body: RotateAgent,
  response: AgentWithToken,
  errors: ['AgentNotFound', 'AgentStateConflict'],
  handle: async (op, app, { params: { name }, body }) =>
    ok(await app.rotateAgent(op, { name, ...body })),
})

const revoke = defineRoute({
  method: 'POST',
  path: '/api/agents/:name/revoke',
  operationId: 'revokeAgent',
  summary: 'End an agent: its token, its connections and what it asked for',
  permission: 'agents.manage',
  params,
  response: Agent,
  errors: ['AgentNotFound', 'AgentStateConflict'],
  handle: async (op, app, { params: { name } }) => ok(await app.revokeAgent(op, { name })),
})

const restore = defineRoute({
  method: 'POST',
  path: '/api/agents/:name/restore',
  operationId: 'restoreAgent',
  summary: 'Bring a revoked agent back with a new token',
  permission: 'agents.manage',
  params,
  response: AgentWithToken,
  errors: ['AgentNotFound', 'AgentStateConflict'],
  handle: async (op, app, { params: { name } }) => ok(await app.restoreAgent(op, { name })),
})

export const agentRoutes: readonly Route[] = [
  list,
  create,
  show,
  pause,
  resume,
  rotate,
  revoke,
  restore,
]
