import { defineRoutes } from './define-routes.ts'

export const progressRoutes = defineRoutes({
  streamProgress: {
    method: 'GET',
    path: '/api/progress/stream',
    summary:
      'Long work as it gets on, as server-sent events: `model` is a job of an installation, `service` how far a service is read, `engine` the state of the engine',
    permission: 'read',
    answer: 'events',
  },
})
