import { z } from 'zod'
import { Figures } from '../figures.ts'
import { defineRoutes } from './define-routes.ts'
import { queryInteger, queryText, queryTime } from './fields.ts'

export const figureRoutes = defineRoutes({
  getFigures: {
    method: 'GET',
    path: '/api/figures',
    summary:
      'Numbers of calls over time, by capability, agent and service: of the last 24 hours, or of up to 31 days in 500 parts',
    permission: 'read',
    query: z.strictObject({
      from: queryTime.optional(),
      to: queryTime.optional(),
      /** Length of a part in seconds. */
      step: queryInteger({ min: 1, max: 31 * 86_400, default: undefined }),
      agent: queryText().optional(),
    }),
    answer: Figures,
  },
})
