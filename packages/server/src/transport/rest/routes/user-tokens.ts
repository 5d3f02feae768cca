import { CreatedUserToken, CreateUserToken, UserToken, UserTokenList } from '@gatehouse/contract'
import { z } from 'zod'
import { created, defineRoute, ok, type Route } from '../define.ts'
import { pathName } from '../fields.ts'

const list = defineRoute({
  method: 'GET',
  path: '/api/user-tokens',
  operationId: 'listUserTokens',
  summary: 'Every user token, without the tokens themselves',
  permission: 'read',
  response: UserTokenList,
  errors: [],
  handle: async (op, app) => ok({ user_tokens: await app.listUserTokens(op) }),
})

const create = defineRoute({
  method: 'POST',
  path: '/api/user-tokens',
  operationId: 'createUserToken',
  summary: 'Create a user token; it is in the answer and never shown again',
  permission: 'user_tokens.manage',
  body: CreateUserToken,
  response: CreatedUserToken,
  success: 201,
  errors: [],
  handle: async (op, app, { body }) => created(await app.createUserToken(op, body)),
})

const revoke = defineRoute({
  method: 'POST',
  path: '/api/user-tokens/:id/revoke',
  operationId: 'revokeUserToken',
  summary: 'End a user token',
  permission: 'user_tokens.manage',
  params: z.object({ id: pathName }),
  response: UserToken,
  errors: ['UserTokenNotFound'],
  handle: async (op, app, { params: { id } }) => ok(await app.revokeUserToken(op, { id })),
})

export const userTokenRoutes: readonly Route[] = [list, create, revoke]
