import type { operatorRoutes } from '@gatehouse/contract/routes/operators'
import type { Handlers } from '../handler.ts'

export const operatorHandlers: Handlers<typeof operatorRoutes> = {
  listOperators: async (op, app) => ({ operators: await app.listOperators(op) }),

  setPassword(op, app, { current_password, ...input }, { login, address }) {
    const present = login && { sessionHash: login.id_hash, password: current_password, address }
    return app.setPassword(op, { ...input, present })
  },

  removeOperator: (op, app, input) => app.removeOperator(op, input),
}
