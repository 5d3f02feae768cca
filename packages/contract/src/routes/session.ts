import { LoggedOut, Login, SetUp, SetupLink, SetupState, Whoami } from '../people.ts'
import { defineRoutes } from './define-routes.ts'

/** Room for a password in any escaping, and not for a flood of them. */
const bodyBytesMax = 16 * 1024

export const sessionRoutes = defineRoutes({
  showSession: {
    method: 'GET',
    path: '/api/session',
    summary: 'Identity of the caller, by login or by token',
    permission: 'read',
    answer: Whoami,
  },
  logIn: {
    method: 'POST',
    path: '/api/session',
    summary: 'Log in with a password; the answer sets the cookie of the login',
    permission: 'public',
    body: Login,
    bodyBytesMax,
    answer: Whoami,
    success: 201,
    errors: ['AuthenticationFailed', 'TooManyFailures', 'TooManyLogins', 'LoginElsewhere'],
  },
  logOut: {
    method: 'DELETE',
    path: '/api/session',
    summary: 'End the login that asks',
    permission: 'read',
    answer: LoggedOut,
    errors: ['Conflict'],
  },
  showSetup: {
    method: 'GET',
    path: '/api/setup',
    summary: 'Whether the first operator is still to be made',
    permission: 'public',
    answer: SetupState,
  },
  setUp: {
    method: 'POST',
    path: '/api/setup',
    summary: 'Make the first operator by the one-time setup link, and log in',
    permission: 'public',
    body: SetUp,
    bodyBytesMax,
    answer: Whoami,
    success: 201,
    errors: ['SetupLinkInvalid', 'WeakPassword', 'TooManyLogins', 'LoginElsewhere'],
  },
  createSetupLink: {
    method: 'POST',
    path: '/api/setup-link',
    summary: 'A new one-time link for the first operator; the one before it ends',
    permission: 'operators.manage',
    answer: SetupLink,
    success: 201,
    errors: ['Conflict'],
  },
})
