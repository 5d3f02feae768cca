import {
  GatehouseError,
  LoggedOut,
  Login,
  SetUp,
  SetupLink,
  SetupState,
  Whoami,
} from '@gatehouse/contract'
import type { LoggedIn } from '../../../app/login.ts'
import { type Answer, created, defineRoute, ok, type Peer, type Route } from '../define.ts'
import { endedCookie, loginCookie } from '../login-cookie.ts'

/** Room for a password in any escaping, and not for a flood of them. */
const bodyBytesMax = 16 * 1024
const cookieSeconds = 12 * 3_600

/** @SECURITY Passwords and logins never cross the plain door; session.test.ts. */
const assertLogsIn = ({ logsIn }: Peer): void => {
  if (!logsIn) throw new GatehouseError('LoginElsewhere')
}

const withCookie = ({ id, whoami }: LoggedIn): Answer<Whoami> => ({
  kind: 'json',
  status: 201,
  value: whoami,
  headers: { 'set-cookie': loginCookie(id, cookieSeconds) },
})

const show = defineRoute({
  method: 'GET',
  path: '/api/session',
  operationId: 'showSession',
  summary: 'Who asks, by login or by token',
  permission: 'read',
  response: Whoami,
  errors: [],
  async handle({ actor }, _app, { peer: { login } }) {
    const [name, role] =
      actor.kind === 'user' ? [actor.label, actor.role] : ['system', 'operator' as const]
    if (!login) return ok({ name, role, via: 'token' as const, expires_at: null })
    const expires_at = login.expires_at
    return ok({ name, role, via: 'login' as const, expires_at })
  },
})

const logIn = defineRoute({
  method: 'POST',
  path: '/api/session',
  operationId: 'logIn',
  summary: 'Log in with a password; the answer sets the cookie of the login',
  permission: 'public',
  body: Login,
  bodyBytesMax,
  response: Whoami,
  success: 201,
  errors: ['AuthenticationFailed', 'TooManyFailures', 'TooManyLogins', 'LoginElsewhere'],
  async handle(op, app, { body, peer }) {
    assertLogsIn(peer)
    const { password, name } = body
    const { address } = peer
    return withCookie(await app.login(op, { password, address, ...(name ? { name } : {}) }))
  },
})

const logOut = defineRoute({
  method: 'DELETE',
  path: '/api/session',
  operationId: 'logOut',
  summary: 'End the login that asks',
  permission: 'read',
  response: LoggedOut,
  errors: ['Conflict'],
  async handle(op, app, { peer: { login } }) {
    if (!login)
      throw new GatehouseError('Conflict', {
        detail: 'This request came with a token, not with a login; a token is revoked.',
      })
    await app.logout(op, { id_hash: login.id_hash })
    return { ...ok({ logged_out: true as const }), headers: { 'set-cookie': endedCookie } }
  },
})

const setupState = defineRoute({
  method: 'GET',
  path: '/api/setup',
  operationId: 'showSetup',
  summary: 'Whether the first operator is still to be made',
  permission: 'public',
  response: SetupState,
  errors: [],
  handle: async (_op, app) => ok({ needed: await app.needsSetup() }),
})

const setUp = defineRoute({
  method: 'POST',
  path: '/api/setup',
  operationId: 'setUp',
  summary: 'Make the first operator by the one-time setup link, and log in',
  permission: 'public',
  body: SetUp,
  bodyBytesMax,
  response: Whoami,
  success: 201,
  errors: ['SetupLinkInvalid', 'WeakPassword', 'TooManyLogins', 'LoginElsewhere'],
  async handle(op, app, { body, peer }) {
    assertLogsIn(peer)
    const { token, password, name } = body
    const { address } = peer
    return withCookie(await app.setUp(op, { token, password, address, ...(name ? { name } : {}) }))
  },
})

const setupLink = defineRoute({
  method: 'POST',
  path: '/api/setup-link',
  operationId: 'createSetupLink',
  summary: 'A new one-time link for the first operator; the one before it ends',
  permission: 'operators.manage',
  response: SetupLink,
  success: 201,
  errors: ['Conflict'],
  handle: async (op, app) => created(await app.createSetupLink(op)),
})

export const sessionRoutes: readonly Route[] = [show, logIn, logOut, setupState, setUp, setupLink]
