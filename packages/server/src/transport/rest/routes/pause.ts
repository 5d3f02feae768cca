import { PausedAgents } from '@gatehouse/contract'
import { defineRoute, ok, type Route } from '../define.ts'

const pause = defineRoute({
  method: 'POST',
  path: '/api/pause',
  operationId: 'pauseAll',
  summary: 'Refuse every new call of every agent, now',
  permission: 'agents.manage',
  response: PausedAgents,
  errors: [],
  handle: async (op, app) => ok(await app.pauseAll(op)),
})

const resume = defineRoute({
  method: 'POST',
  path: '/api/resume',
  operationId: 'resumeAll',
  summary: 'Resume the agents that pausing everything paused',
  permission: 'agents.manage',
  response: PausedAgents,
  errors: [],
  handle: async (op, app) => ok(await app.resumeAll(op)),
})

export const pauseRoutes: readonly Route[] = [pause, resume]
