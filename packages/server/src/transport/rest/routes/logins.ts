import type { loginRoutes } from '@gatehouse/contract/routes/logins'
import { type Handlers, Reply } from '../handler.ts'
import { endedCookie } from '../login-cookie.ts'

export const loginHandlers: Handlers<typeof loginRoutes> = {
  listLogins: async (op, app, _input, { login }) => ({
    logins: await app.listLogins(op, { current_hash: login?.id_hash ?? null }),
  }),

  async endLogin(op, app, { id }, { login }) {
    const ended = await app.endLogin(op, { id, current_hash: login?.id_hash ?? null })
    return new Reply(ended, ended.current ? { headers: { 'set-cookie': endedCookie } } : {})
  },
}
