import {
  GatehouseError,
  type Operator,
  type PasswordSet,
  type PersonRole,
} from '@gatehouse/contract'
import { normalPassword, passwordFault } from '../../domain/password.ts'
import type { Passwords } from '../../ports/passwords.ts'
import type { StoredOperator } from '../../ports/people.ts'
import { actDraft } from '../call/audit-draft.ts'
import type { Basics } from '../call/basics.ts'
import type { Op } from '../call/op.ts'
import { assertPassword, assertStillRight, type LoginDeps } from './login.ts'

type Deps = Pick<Basics, 'storage' | 'auditLog' | 'clock'> & { readonly passwords: Passwords }

const iso = (ms: number): string => new Date(ms).toISOString()

const record = (operator: StoredOperator): Operator => ({
  name: operator.name,
  role: operator.role,
  created_at: iso(operator.created_ms),
  password_changed_at: iso(operator.password_changed_ms),
})

/** The hash of a password that may be set. */
export async function hashPassword(
  { passwords }: Pick<Deps, 'passwords'>,
  password: string,
  name: string,
): Promise<string> {
  const fault = passwordFault(password, name)
  if (fault !== null) throw new GatehouseError('WeakPassword', { detail: fault })
  return passwords.hash(normalPassword(password))
}

export const listOperators = async ({
  storage,
}: Pick<Deps, 'storage'>): Promise<readonly Operator[]> =>
  (await storage.operators.list()).map(record)

export type SetPasswordInput = {
  readonly name: string
  readonly password: string
  readonly role?: PersonRole | undefined
  /** Raises `OperatorNotFound` where there is nobody of that name. */
  readonly existing?: boolean | undefined
  /** Present password and further facts, required of the person of a login session. */
  readonly present: {
    readonly sessionHash: string
    readonly password: string | undefined
    readonly address: string
  } | null
}

/**
 * Sets a password and where it is said the role, and unless it is for an existing person makes one where there is none
 * of that name. Every login of that name ends, but the one that asks.
 */
export async function setPassword(
  op: Op,
  deps: Deps & LoginDeps,
  { name, password, role, existing, present }: SetPasswordInput,
): Promise<PasswordSet> {
  // @SECURITY A person who finds an open dashboard must not be able to keep it; login.test.ts.
  const verified = present && (await assertPassword(deps, { ...present, name: actorName(op) }))
  const hash = await hashPassword(deps, password, name)
  const nowMs = deps.clock.wall()
  return deps.auditLog.transaction(async (tx) => {
    if (present && verified) await assertStillAsks(tx, verified, present)
    const known = await tx.operators.find(name)
    if (existing && !known) throw new GatehouseError('OperatorNotFound', { name })
    const next = {
      role: role ?? known?.role ?? 'operator',
      password_hash: hash,
      password_changed_ms: nowMs,
    }
    if (known) await tx.operators.setPassword(name, next)
    else
      await tx.operators.insert({
        ...next,
        name,
        created_ms: nowMs,
        slot: null,
      })
    const own = present && actorName(op) === name ? present.sessionHash : null
    const ended = await tx.webSessions.endAllOf(name, own)
    const act = known ? 'operator.password_changed' : 'operator.created'
    tx.append(
      actDraft(op, act, {
        arguments: { name, role: next.role },
        ...(known ? { detail: { logins_ended: ended } } : {}),
      }),
    )
    const operator = (await tx.operators.find(name)) as StoredOperator
    return { ...record(operator), created: !known }
  })
}

/** @SECURITY A person who is removed, or whose login is ended, during the hash changes nothing any more; login.test.ts. */
async function assertStillAsks(
  tx: Pick<Basics['storage'], 'operators' | 'webSessions'>,
  verified: StoredOperator,
  { sessionHash }: { readonly sessionHash: string },
): Promise<void> {
  await assertStillRight(tx, verified)
  if (!(await tx.webSessions.findByHash(sessionHash)))
    throw new GatehouseError('AuthenticationFailed', { detail: 'this login has ended' })
}

const actorName = (op: Op): string => (op.actor.kind === 'user' ? op.actor.label : '')

export async function removeOperator(
  op: Op,
  deps: Deps,
  { name }: { readonly name: string },
): Promise<Operator> {
  return deps.auditLog.transaction(async (tx) => {
    const operator = await tx.operators.find(name)
    if (!operator) throw new GatehouseError('OperatorNotFound', { name })
    await tx.operators.remove(name)
    const ended = await tx.webSessions.endAllOf(name, null)
    tx.append(
      actDraft(op, 'operator.removed', { arguments: { name }, detail: { logins_ended: ended } }),
    )
    return record(operator)
  })
}
