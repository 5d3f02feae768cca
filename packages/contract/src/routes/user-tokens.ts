import { CreatedUserToken, CreateUserToken, UserToken, UserTokenList } from '../people.ts'
import { defineRoutes } from './define-routes.ts'

export const userTokenRoutes = defineRoutes({
  listUserTokens: {
    method: 'GET',
    path: '/api/user-tokens',
    summary: 'Every user token, without the tokens themselves',
    permission: 'read',
    answer: UserTokenList,
  },
  createUserToken: {
    method: 'POST',
    path: '/api/user-tokens',
    summary: 'Create a user token; it is in the answer and never shown again',
    permission: 'user_tokens.manage',
    body: CreateUserToken,
    answer: CreatedUserToken,
    success: 201,
    errors: ['AgentNotFound'],
  },
  revokeUserToken: {
    method: 'POST',
    path: '/api/user-tokens/:id/revoke',
    summary: 'End a user token',
    permission: 'user_tokens.manage',
    answer: UserToken,
    errors: ['UserTokenNotFound'],
  },
})
