import { z } from 'zod'
import { defineRoutes } from './define-routes.ts'

export const openApiRoutes = defineRoutes({
  getOpenApi: {
    method: 'GET',
    path: '/api/openapi.json',
    summary: 'This description of the API, made from the routes themselves',
    permission: 'read',
    answer: z.looseObject({}),
  },
})
