import { Configuration } from '../configuration.ts'
import { defineRoutes } from './define-routes.ts'

export const configurationRoutes = defineRoutes({
  getConfiguration: {
    method: 'GET',
    path: '/api/configuration',
    summary: 'Every active setting and where its value comes from, without secrets',
    permission: 'read',
    answer: Configuration,
  },
})
