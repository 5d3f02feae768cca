import { GatehouseError } from '@gatehouse/contract'
import type { Permission } from '@gatehouse/contract/routes'
import { permits } from '@gatehouse/contract/routes/permissions'
import type { App } from '../../app/app.ts'
import type { Actor } from '../../app/call/op.ts'

const userToken = /^gatehouse_user_[A-Za-z0-9_-]{43}$/
const failed = (detail: string) => new GatehouseError('AuthenticationFailed', { detail })

export type Admitted = {
  readonly actor: Actor
  /** Whether the credential is still valid, for what stays open. */
  readonly stillValid: () => Promise<boolean>
}

function tokenOf(header: string | null): string {
  if (header === null) throw failed('send `Authorization: Bearer <user token>`')
  const token = /^Bearer +(\S+)$/i.exec(header)?.[1]
  if (token === undefined) throw failed('the Authorization header is not `Bearer <user token>`')
  // @SECURITY Agent tokens open nothing here, so an agent can never decide on its own requests; roles.test.ts.
  if (!userToken.test(token))
    throw failed('this address takes user tokens (`gatehouse_user_…`) only')
  return token
}

/** The person or program behind a user token. */
export async function authenticate(app: App, header: string | null): Promise<Admitted> {
  const token = tokenOf(header)
  const find = async () => {
    const found = await app.authenticateUser(token)
    return found && found.revoked_ms === null ? found : null
  }
  const found = await find()
  if (!found) throw failed('the token is unknown or revoked')
  const { label, role, id, agent } = found
  return {
    actor: { kind: 'user', label, role, token_id: id, ...(agent === null ? {} : { agent }) },
    stillValid: async () => (await find())?.role === role,
  }
}

/** @SECURITY An agent has no business here, whatever says that it is one; roles.test.ts covers it. */
export function assertPermitted(actor: Actor, permission: Permission): void {
  if (actor.kind === 'system') return
  if (actor.kind === 'agent') throw failed('agents are not served here')
  if (!permits(actor.role, permission))
    throw new GatehouseError('PermissionDenied', { role: actor.role, permission })
}
