import { GatehouseError, type PersonRole, type Whoami } from '@gatehouse/contract'
import { normalPassword } from '../../domain/password.ts'
import type { Passwords } from '../../ports/passwords.ts'
import type { StoredOperator, StoredWebSession } from '../../ports/people.ts'
import { actDraft } from '../call/audit-draft.ts'
import type { Basics } from '../call/basics.ts'
import type { Actor, Op } from '../call/op.ts'
import { wallTime } from '../call/wall-time.ts'
import type { LoginAttempts } from './login-attempts.ts'
import type { LoginUses } from './login-uses.ts'
import { reportTokenFailures } from './report-token-failures.ts'

export const loginMs = 12 * 3_600_000

export type LoginDeps = Pick<
  Basics,
  'storage' | 'auditLog' | 'clock' | 'ids' | 'digest' | 'log'
> & {
  readonly passwords: Passwords
  readonly logins: LoginAttempts
  readonly uses: LoginUses
}

/** A login as the browser keeps it: the id is in its cookie and nowhere else. */
export type LoggedIn = { readonly id: string; readonly whoami: Whoami }

export type WebLogin = {
  readonly actor: Extract<Actor, { kind: 'user' }>
  readonly id_hash: string
  readonly expires_at: string
}

const wrong = () =>
  new GatehouseError('AuthenticationFailed', { detail: 'the name or the password is wrong' })

/** By name, or the first there is: most installations have one. */
const findOperator = async (
  { storage }: Pick<LoginDeps, 'storage'>,
  name: string | undefined,
): Promise<StoredOperator | null> =>
  name === undefined ? ((await storage.operators.list())[0] ?? null) : storage.operators.find(name)

/**
 * The operator of that name and password. Raises `AuthenticationFailed`, and `TooManyFailures` before a
 * password is looked at once the address has used up its failures.
 */
export async function assertPassword(
  deps: LoginDeps,
  input: {
    readonly name?: string
    readonly password: string | undefined
    readonly address: string
  },
): Promise<StoredOperator> {
  const attempt = deps.logins.begin(input.address)
  // @SECURITY Before the hash, or guessing would cost us more than whoever guesses; login.test.ts.
  if (typeof attempt === 'number')
    throw new GatehouseError('TooManyFailures', { retry_after_seconds: attempt })
  let operator: StoredOperator | null
  let right: boolean
  try {
    operator = await findOperator(deps, input.name)
    // @SECURITY As slow for a name that nobody has; passwords.test.ts.
    right = await deps.passwords.verify(
      operator?.password_hash ?? null,
      normalPassword(input.password ?? ''),
    )
  } catch (cause) {
    attempt.succeeded()
    throw cause
  }
  if (operator && right) {
    attempt.succeeded()
    return operator
  }
  const count = attempt.failed()
  if (count > 0)
    await reportTokenFailures(deps, { address: input.address, count, listener: 'dashboard' })
  throw wrong()
}

/** Between the hash and a transaction another login may have changed the password or removed the operator. */
export async function assertStillRight(
  tx: Pick<Basics['storage'], 'operators'>,
  verified: StoredOperator,
): Promise<void> {
  const still = await tx.operators.find(verified.name)
  if (still?.password_hash !== verified.password_hash) throw wrong()
}

/** Puts failures of minutes that are over on record. */
export async function sweepLogins(deps: LoginDeps): Promise<void> {
  for (const { address, count } of deps.logins.sweep())
    await reportTokenFailures(deps, { address, count, listener: 'dashboard' })
  await deps.storage.webSessions.endExpired(deps.clock.now())
  deps.uses.sweep()
}

/** A session of an operator, not yet stored. */
export function newSession(
  deps: Pick<LoginDeps, 'clock' | 'ids' | 'digest'>,
  { name, role }: { readonly name: string; readonly role: PersonRole },
): { readonly loggedIn: LoggedIn; readonly stored: StoredWebSession } {
  const id = deps.ids.secret().toString('base64url')
  const now = deps.clock.now()
  const expires_at = new Date(deps.clock.wall() + loginMs).toISOString()
  return {
    loggedIn: { id, whoami: { name, role, via: 'login', expires_at } },
    stored: {
      id_hash: deps.digest.sha256(id),
      operator: name,
      created_ms: now,
      expires_ms: now + loginMs,
    },
  }
}

export async function login(
  op: Op,
  deps: LoginDeps,
  input: { readonly name?: string; readonly password: string; readonly address: string },
): Promise<LoggedIn> {
  const operator = await assertPassword(deps, input)
  const { loggedIn, stored } = newSession(deps, operator)
  const by: Op = { ...op, actor: actorOf(operator) }
  await deps.auditLog.transaction(async (tx) => {
    await assertStillRight(tx, operator)
    await tx.webSessions.insert(stored)
    tx.append(
      actDraft(by, 'operator.logged_in', {
        arguments: { name: operator.name },
        detail: { address: input.address },
      }),
    )
  })
  deps.uses.used(stored.id_hash, input.address)
  return loggedIn
}

const actorOf = ({ name, role }: Pick<StoredOperator, 'name' | 'role'>): WebLogin['actor'] => ({
  kind: 'user',
  label: name,
  role,
  token_id: `operator:${name}`,
})

/** For people, by wall time; what counts is the service clock. */
const expiresAt = ({ clock }: Pick<LoginDeps, 'clock'>, { expires_ms }: StoredWebSession): string =>
  wallTime(clock, expires_ms)

/** Login of a cookie, or null. With the address of a request the login counts as used. */
export async function authenticateWebSession(
  deps: Pick<LoginDeps, 'storage' | 'clock' | 'digest' | 'uses'>,
  id: string,
  address?: string,
): Promise<WebLogin | null> {
  if (!/^[A-Za-z0-9_-]{43}$/.test(id)) return null
  const hash = deps.digest.sha256(id)
  const session = await deps.storage.webSessions.findByHash(hash)
  if (!session || !deps.digest.equal(session.id_hash, hash)) return null
  if (session.expires_ms <= deps.clock.now()) return null
  const operator = await deps.storage.operators.find(session.operator)
  if (!operator) return null
  if (address !== undefined) deps.uses.used(hash, address)
  return {
    actor: { ...actorOf(operator), login_ms: session.created_ms },
    id_hash: hash,
    expires_at: expiresAt(deps, session),
  }
}

export async function logout(
  op: Op,
  deps: Pick<LoginDeps, 'auditLog'>,
  { id_hash }: { readonly id_hash: string },
): Promise<void> {
  await deps.auditLog.transaction(async (tx) => {
    if (await tx.webSessions.end(id_hash)) tx.append(actDraft(op, 'operator.logged_out', {}))
  })
}
