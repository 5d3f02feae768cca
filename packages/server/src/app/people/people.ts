import type {
  CreatedUserToken,
  CreateUserToken,
  LoginSession,
  Operator,
  PasswordSet,
  SetupLink,
  UserToken,
} from '@gatehouse/contract'
import type { Passwords } from '../../ports/passwords.ts'
import type { StoredUserToken } from '../../ports/people.ts'
import type { AgentDirectory } from '../agents/agent-directory.ts'
import type { Basics } from '../call/basics.ts'
import type { Op } from '../call/op.ts'
import type { Part } from '../call/part.ts'
import { PollLoop } from '../call/poll-loop.ts'
import {
  authenticateWebSession,
  type LoggedIn,
  login,
  loginMs,
  logout,
  sweepLogins,
  type WebLogin,
} from './login.ts'
import { LoginAttempts } from './login-attempts.ts'
import { LoginUses } from './login-uses.ts'
import { endLogin, listLogins } from './logins.ts'
import { listOperators, removeOperator, type SetPasswordInput, setPassword } from './operators.ts'
import { reportTokenFailures } from './report-token-failures.ts'
import { createSetupLink, needsSetup, setUp } from './set-up.ts'
import {
  authenticateUser,
  createUserToken,
  listUserTokens,
  revokeUserToken,
} from './user-tokens.ts'

export type PeopleDeps = Basics & {
  readonly directory: AgentDirectory
  readonly passwords: Passwords
  readonly signal: AbortSignal
}

export interface PeopleUseCases {
  authenticateUser(token: string): Promise<StoredUserToken | null>
  /** Wrong tokens at a listener: an entry for the first of an address and minute, one with the count of the rest. */
  reportTokenFailures(input: { address: string; count: number; listener: string }): Promise<void>
  createUserToken(op: Op, input: CreateUserToken): Promise<CreatedUserToken>
  listUserTokens(op: Op): Promise<readonly UserToken[]>
  revokeUserToken(op: Op, input: { id: string }): Promise<UserToken>

  needsSetup(): Promise<boolean>
  /** Raises `Conflict` once there is an operator. */
  createSetupLink(op: Op): Promise<SetupLink>
  setUp(
    op: Op,
    input: { token: string; password: string; name?: string; address: string },
  ): Promise<LoggedIn>
  login(op: Op, input: { password: string; name?: string; address: string }): Promise<LoggedIn>
  logout(op: Op, input: { id_hash: string }): Promise<void>
  /** Login of a cookie, or null. With the address of a request the login counts as used. */
  authenticateWebSession(id: string, address?: string): Promise<WebLogin | null>
  /** Logins that are valid, newest first. */
  listLogins(op: Op, input: { current_hash: string | null }): Promise<readonly LoginSession[]>
  /** Raises `LoginNotFound`, also for one that has expired. */
  endLogin(op: Op, input: { id: string; current_hash: string | null }): Promise<LoginSession>
  listOperators(op: Op): Promise<readonly Operator[]>
  setPassword(op: Op, input: SetPasswordInput): Promise<PasswordSet>
  removeOperator(op: Op, input: { name: string }): Promise<Operator>
}

const sweepEveryMs = 60_000

/** People, by their tokens and by their logins. */
export function bindPeople(given: PeopleDeps): Part<PeopleUseCases> {
  const deps = {
    ...given,
    logins: new LoginAttempts(given.clock),
    uses: new LoginUses(given.clock, loginMs),
  }
  const sweeping = new PollLoop(deps, {
    name: 'looking for logins that have ended',
    everyMs: sweepEveryMs,
    look: () => sweepLogins(deps),
  })
  return {
    useCases: {
      authenticateUser: (token) => authenticateUser(deps, token),
      reportTokenFailures: (input) => reportTokenFailures(deps, input),
      createUserToken: (op, input) => createUserToken(op, deps, input),
      listUserTokens: () => listUserTokens(deps),
      revokeUserToken: (op, input) => revokeUserToken(op, deps, input),

      needsSetup: () => needsSetup(deps),
      createSetupLink: (op) => createSetupLink(op, deps),
      setUp: (op, input) => setUp(op, deps, input),
      login: (op, input) => login(op, deps, input),
      logout: (op, input) => logout(op, deps, input),
      authenticateWebSession: (id, address) => authenticateWebSession(deps, id, address),
      listLogins: (_op, input) => listLogins(deps, input),
      endLogin: (op, input) => endLogin(op, deps, input),
      listOperators: () => listOperators(deps),
      setPassword: (op, input) => setPassword(op, deps, input),
      removeOperator: (op, input) => removeOperator(op, deps, input),
    },
    start: async () => sweeping.start('later'),
    stopped: () => sweeping.stopped(),
  }
}
