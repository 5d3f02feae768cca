import type { userTokenRoutes } from '@gatehouse/contract/routes/user-tokens'
import type { Handlers } from '../handler.ts'

export const userTokenHandlers: Handlers<typeof userTokenRoutes> = {
  listUserTokens: async (op, app) => ({ user_tokens: await app.listUserTokens(op) }),
  createUserToken: (op, app, input) => app.createUserToken(op, input),
  revokeUserToken: (op, app, input) => app.revokeUserToken(op, input),
}
