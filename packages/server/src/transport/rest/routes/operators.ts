import { Operator, OperatorList, OperatorName, PasswordSet, SetPassword } from '@gatehouse/contract'
import { z } from 'zod'
import { defineRoute, ok, type Route } from '../define.ts'
import { pathName } from '../fields.ts'

const list = defineRoute({
  method: 'GET',
  path: '/api/operators',
  operationId: 'listOperators',
  summary: 'Who can log in with a password',
  permission: 'read',
  response: OperatorList,
  errors: [],
  handle: async (op, app) => ok({ operators: [...(await app.listOperators(op))] }),
})

const setPassword = defineRoute({
  method: 'PUT',
  path: '/api/operators/:name/password',
  operationId: 'setPassword',
  summary: 'Set a password, and make the operator if there is none; other logins of it end',
  permission: 'operators.manage',
  params: z.object({ name: OperatorName }),
  body: SetPassword,
  bodyBytesMax: 16 * 1024,
  response: PasswordSet,
  errors: ['WeakPassword', 'TooManyFailures', 'TooManyLogins'],
  async handle(op, app, { params: { name }, body, peer: { login, address } }) {
    const present = login && {
      sessionHash: login.id_hash,
      password: body.current_password,
      address,
    }
    return ok(await app.setPassword(op, { name, password: body.password, present }))
  },
})

const remove = defineRoute({
  method: 'DELETE',
  path: '/api/operators/:name',
  operationId: 'removeOperator',
  summary: 'Take a login away from somebody',
  permission: 'operators.manage',
  params: z.object({ name: pathName }),
  response: Operator,
  errors: ['OperatorNotFound'],
  handle: async (op, app, { params }) => ok(await app.removeOperator(op, params)),
})

export const operatorRoutes: readonly Route[] = [list, setPassword, remove]
