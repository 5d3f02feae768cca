import { PauseAll, PausedAgents, ResumeAll, ServicePause } from '../pause.ts'
import { defineRoutes } from './define-routes.ts'

export const pauseRoutes = defineRoutes({
  showPause: {
    method: 'GET',
    path: '/api/pause',
    summary: 'Whether the whole service is paused, by whom, why, and for which agents',
    permission: 'read',
    answer: ServicePause,
  },
  pauseAll: {
    method: 'POST',
    path: '/api/pause',
    summary: 'Refuse every new call of every agent, now, until the service is resumed',
    permission: 'agents.manage',
    body: PauseAll,
    answer: PausedAgents,
  },
  resumeAll: {
    method: 'POST',
    path: '/api/resume',
    summary: 'Resume the agents that pausing everything paused: all of them, or some first',
    permission: 'agents.manage',
    body: ResumeAll,
    answer: PausedAgents,
    errors: ['AgentNotFound', 'AgentStateConflict'],
  },
})
