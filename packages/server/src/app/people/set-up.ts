import { GatehouseError, type SetupLink } from '@gatehouse/contract'
import { parseStored } from '../../domain/parse-stored.ts'
import type { StoredOperator } from '../../ports/people.ts'
import type { MetaStore } from '../../ports/storage.ts'
import { actDraft } from '../call/audit-draft.ts'
import type { Op } from '../call/op.ts'
import { type LoggedIn, type LoginDeps, newSession } from './login.ts'
import { hashPassword } from './operators.ts'

const linkMs = 30 * 60_000
const key = 'setup_link'
/** Name of the first operator where no other is given. */
const usualName = 'operator'

type StoredLink = { readonly hash: string; readonly expires_ms: number }

const readLink = async (meta: MetaStore): Promise<StoredLink | null> => {
  const text = await meta.get(key)
  return text === null || text === '' ? null : parseStored<StoredLink>(text, `meta.${key}`)
}

export const needsSetup = async ({ storage }: Pick<LoginDeps, 'storage'>): Promise<boolean> =>
  (await storage.operators.list()).length === 0

/** A new link; the previous one is no longer valid. Only until there is an operator. */
export async function createSetupLink(op: Op, deps: LoginDeps): Promise<SetupLink> {
  const token = deps.ids.secret().toString('base64url')
  const link: StoredLink = {
    hash: deps.digest.sha256(token),
    expires_ms: deps.clock.now() + linkMs,
  }
  await deps.auditLog.transaction(async (tx) => {
    if ((await tx.operators.list()).length > 0)
      throw new GatehouseError('Conflict', {
        detail:
          'There is an operator already; a lost password is set by: gatehouse operator set-password',
      })
    await tx.meta.set(key, JSON.stringify(link))
    tx.append(actDraft(op, 'setup_link.created', {}))
  })
  return { token, expires_at: new Date(deps.clock.wall() + linkMs).toISOString() }
}

const assertLink = (deps: LoginDeps, link: StoredLink | null, token: string): void => {
  const holds =
    link !== null &&
    link.expires_ms > deps.clock.now() &&
    deps.digest.equal(link.hash, deps.digest.sha256(token))
  if (!holds) throw new GatehouseError('SetupLinkInvalid')
}

/** Makes the first operator of a setup link and logs it in. Of many at once exactly one does. */
export async function setUp(
  op: Op,
  deps: LoginDeps,
  input: {
    readonly token: string
    readonly password: string
    readonly name?: string
    readonly address: string
  },
): Promise<LoggedIn> {
  const { token, password, name = usualName } = input
  assertLink(deps, await readLink(deps.storage.meta), token)
  const hash = await hashPassword(deps, password, name)
  const wallMs = deps.clock.wall()
  const operator: StoredOperator = {
    name,
    role: 'operator',
    password_hash: hash,
    created_ms: wallMs,
    password_changed_ms: wallMs,
    slot: 'first',
  }
  const { loggedIn, stored } = newSession(deps, operator)
  await deps.auditLog.transaction(async (tx) => {
    // @SECURITY Checked again in the step that uses the link up; login.test.ts.
    assertLink(deps, await readLink(tx.meta), token)
    if ((await tx.operators.list()).length > 0) throw new GatehouseError('SetupLinkInvalid')
    await tx.operators.insert(operator)
    await tx.meta.set(key, '')
    await tx.webSessions.insert(stored)
    tx.append(
      actDraft(op, 'operator.created', {
        arguments: { name },
        detail: { by: 'setup link', address: input.address },
      }),
    )
  })
  deps.uses.used(stored.id_hash, input.address)
  return loggedIn
}
