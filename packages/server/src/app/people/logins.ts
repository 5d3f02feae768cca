import { GatehouseError, type LoginSession } from '@gatehouse/contract'
import type { StoredOperator, StoredWebSession } from '../../ports/people.ts'
import { actDraft } from '../call/audit-draft.ts'
import type { Op } from '../call/op.ts'
import { wallTime } from '../call/wall-time.ts'
import type { LoginDeps } from './login.ts'

type Deps = Pick<LoginDeps, 'storage' | 'auditLog' | 'clock' | 'digest' | 'uses'>

/** Login of the person who asks, or null for a token. */
type Asked = { readonly current_hash: string | null }

const idLength = 16

/** @SECURITY Says nothing of the key that the store has, and nothing of the cookie; logins.test.ts. */
const publicId = ({ digest }: Pick<Deps, 'digest'>, { id_hash }: StoredWebSession): string =>
  `login-${digest.sha256(`login ${id_hash}`).slice(0, idLength)}`

function record(
  deps: Deps,
  session: StoredWebSession,
  { role }: Pick<StoredOperator, 'role'>,
  { current_hash }: Asked,
): LoginSession {
  const { clock, uses } = deps
  const byWall = (ms: number): string => wallTime(clock, ms)
  const use = uses.lastOf(session.id_hash)
  return {
    id: publicId(deps, session),
    name: session.operator,
    role,
    created_at: byWall(session.created_ms),
    last_used_at: use && byWall(use.atMs),
    expires_at: byWall(session.expires_ms),
    address: use && use.address,
    current: session.id_hash === current_hash,
  }
}

type Stores = Pick<Deps['storage'], 'operators' | 'webSessions'>

/** Logins that are valid, newest first. */
async function validLogins(
  { operators, webSessions }: Stores,
  { clock }: Deps,
): Promise<(readonly [StoredWebSession, StoredOperator])[]> {
  const byName = new Map((await operators.list()).map((one) => [one.name, one]))
  return (await webSessions.list()).flatMap((session) => {
    const operator = byName.get(session.operator)
    return operator && session.expires_ms > clock.now() ? [[session, operator] as const] : []
  })
}

export const listLogins = async (deps: Deps, asked: Asked): Promise<readonly LoginSession[]> =>
  (await validLogins(deps.storage, deps)).map(([session, operator]) =>
    record(deps, session, operator, asked),
  )

/** Requests of the login are refused from then on, and its streams end before they say anything more. */
export async function endLogin(
  op: Op,
  deps: Deps,
  { id, ...asked }: Asked & { readonly id: string },
): Promise<LoginSession> {
  return deps.auditLog.transaction(async (tx) => {
    const logins = await validLogins(tx, deps)
    const found = logins.find(([session]) => publicId(deps, session) === id)
    if (!found || !(await tx.webSessions.end(found[0].id_hash)))
      throw new GatehouseError('LoginNotFound', { id })
    const [session, operator] = found
    tx.append(actDraft(op, 'operator.login_ended', { arguments: { id, name: operator.name } }))
    return record(deps, session, operator, asked)
  })
}
