import {
  type CreatedUserToken,
  type CreateUserToken,
  GatehouseError,
  type UserToken,
  type UserTokenId,
} from '@gatehouse/contract'
import type { StoredUserToken } from '../../ports/people.ts'
import type { AgentDirectory } from '../agents/agent-directory.ts'
import { actDraft } from '../call/audit-draft.ts'
import type { Basics } from '../call/basics.ts'
import type { Op } from '../call/op.ts'

const tokenForm = /^gatehouse_user_[A-Za-z0-9_-]{43}$/
/** `last_used_at` is for people: a minute is close enough, and saves a write a call. */
const usedEveryMs = 60_000

type Deps = Pick<Basics, 'storage' | 'auditLog' | 'clock' | 'ids' | 'digest'> & {
  readonly directory: AgentDirectory
}

const iso = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString())

const record = (token: StoredUserToken): UserToken => ({
  id: token.id as UserTokenId,
  label: token.label,
  role: token.role,
  agent: token.agent as UserToken['agent'],
  created_at: new Date(token.created_ms).toISOString(),
  last_used_at: iso(token.last_used_ms),
  revoked_at: iso(token.revoked_ms),
})

export async function createUserToken(
  op: Op,
  deps: Deps,
  input: CreateUserToken,
): Promise<CreatedUserToken> {
  const { agent } = input
  if (agent !== undefined && !(await deps.directory.standIn(agent)))
    throw new GatehouseError('AgentNotFound', { agent })
  const token = `gatehouse_user_${deps.ids.secret().toString('base64url')}`
  const stored: StoredUserToken = {
    id: deps.ids.next('ut'),
    label: input.label,
    role: input.role,
    agent: agent ?? null,
    token_hash: deps.digest.sha256(token),
    created_ms: deps.clock.wall(),
    last_used_ms: null,
    revoked_ms: null,
  }
  await deps.auditLog.transaction(async (tx) => {
    await tx.userTokens.insert(stored)
    tx.append(
      actDraft(op, 'user_token.created', {
        arguments: {
          id: stored.id,
          label: input.label,
          role: input.role,
          ...(agent ? { agent } : {}),
        },
      }),
    )
  })
  const { id, ...shown } = record(stored)
  return { id, label: shown.label, role: shown.role, agent: shown.agent, token }
}

export const listUserTokens = async (deps: Deps): Promise<readonly UserToken[]> =>
  (await deps.storage.userTokens.list()).map(record)

export async function revokeUserToken(
  op: Op,
  deps: Deps,
  { id }: { readonly id: string },
): Promise<UserToken> {
  await deps.auditLog.transaction(async (tx) => {
    if (await tx.userTokens.revoke(id, deps.clock.wall())) {
      tx.append(actDraft(op, 'user_token.revoked', { arguments: { id } }))
    }
  })
  const token = await deps.storage.userTokens.find(id)
  if (!token) throw new GatehouseError('UserTokenNotFound', { id })
  return record(token)
}

/** The holder of a user token, or null. Agent tokens have another form and never get this far. */
export async function authenticateUser(deps: Deps, token: string): Promise<StoredUserToken | null> {
  if (!tokenForm.test(token)) return null
  const hash = deps.digest.sha256(token)
  const found = await deps.storage.userTokens.findByHash(hash)
  if (!found || found.revoked_ms !== null || !deps.digest.equal(found.token_hash, hash)) return null
  const wallMs = deps.clock.wall()
  if (wallMs - (found.last_used_ms ?? 0) > usedEveryMs)
    await deps.storage.userTokens.used(found.id, wallMs)
  return found
}
