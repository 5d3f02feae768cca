import { LoginList, LoginSession } from '../people.ts'
import { defineRoutes } from './define-routes.ts'

export const loginRoutes = defineRoutes({
  listLogins: {
    method: 'GET',
    path: '/api/logins',
    summary: 'Logins of people at the dashboard that are valid, newest first',
    permission: 'operators.manage',
    answer: LoginList,
  },
  endLogin: {
    method: 'DELETE',
    path: '/api/logins/:id',
    summary: 'End one login at once, with the event streams that it opened',
    permission: 'operators.manage',
    answer: LoginSession,
    errors: ['LoginNotFound'],
  },
})
