import { Operator, OperatorList, OperatorName, PasswordSet, SetPassword } from '../people.ts'
import { defineRoutes } from './define-routes.ts'

export const operatorRoutes = defineRoutes({
  listOperators: {
    method: 'GET',
    path: '/api/operators',
    summary: 'People who can log in with a password, and their roles',
    permission: 'read',
    answer: OperatorList,
  },
  setPassword: {
    method: 'PUT',
    path: '/api/operators/:name/password',
    summary:
      'Set a password and the role, and make the login if there is none; other logins of it end',
    permission: 'operators.manage',
    params: { name: OperatorName },
    body: SetPassword,
    bodyBytesMax: 16 * 1024,
    answer: PasswordSet,
    errors: ['WeakPassword', 'TooManyFailures', 'TooManyLogins', 'OperatorNotFound'],
  },
  removeOperator: {
    method: 'DELETE',
    path: '/api/operators/:name',
    summary: 'Take a login away from somebody',
    permission: 'operators.manage',
    answer: Operator,
    errors: ['OperatorNotFound'],
  },
})
