import { GatehouseError, type Whoami } from '@gatehouse/contract'
import type { sessionRoutes } from '@gatehouse/contract/routes/session'
import type { LoggedIn } from '../../../app/people/login.ts'
import { type Handlers, Reply } from '../handler.ts'
import { endedCookie, loginCookie } from '../login-cookie.ts'

const cookieSeconds = 12 * 3_600

/** @SECURITY Passwords and logins never cross the plain listener; session.test.ts. */
const assertLogsIn = (logsIn: boolean): void => {
  if (!logsIn) throw new GatehouseError('LoginElsewhere')
}

const withCookie = ({ id, whoami }: LoggedIn): Reply<Whoami> =>
  new Reply(whoami, { headers: { 'set-cookie': loginCookie(id, cookieSeconds) } })

export const sessionHandlers: Handlers<typeof sessionRoutes> = {
  showSession({ actor }, _app, _input, { login }) {
    const [name, role] =
      actor.kind === 'user' ? [actor.label, actor.role] : ['system', 'operator' as const]
    return login
      ? { name, role, via: 'login', expires_at: login.expires_at }
      : { name, role, via: 'token', expires_at: null }
  },

  async logIn(op, app, input, { logsIn, address }) {
    assertLogsIn(logsIn)
    return withCookie(await app.login(op, { ...input, address }))
  },

  async logOut(op, app, _input, { login }) {
    if (!login)
      throw new GatehouseError('Conflict', {
        detail: 'This request came with a token, not with a login; a token is revoked.',
      })
    await app.logout(op, { id_hash: login.id_hash })
    return new Reply({ logged_out: true }, { headers: { 'set-cookie': endedCookie } })
  },

  showSetup: async (_op, app) => ({ needed: await app.needsSetup() }),

  async setUp(op, app, input, { logsIn, address }) {
    assertLogsIn(logsIn)
    return withCookie(await app.setUp(op, { ...input, address }))
  },

  createSetupLink: (op, app) => app.createSetupLink(op),
}
