import { PausedAgents } from '../alerts.ts'
import { defineRoutes } from './define-routes.ts'

export const pauseRoutes = defineRoutes({
  pauseAll: {
    method: 'POST',
    path: '/api/pause',
    summary: 'Refuse every new call of every agent, now',
    permission: 'agents.manage',
    answer: PausedAgents,
  },
  resumeAll: {
    method: 'POST',
    path: '/api/resume',
    summary: 'Resume the agents that pausing everything paused',
    permission: 'agents.manage',
    answer: PausedAgents,
  },
})
