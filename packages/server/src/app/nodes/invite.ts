import {
  type Certificate,
  GatehouseError,
  type NodeInvite,
  type NodeKeys,
} from '@gatehouse/contract'
import { parseStored } from '../../domain/parse-stored.ts'
import type { NodeKeyFiles } from '../../ports/node-keys.ts'
import type { MetaStore } from '../../ports/storage.ts'
import { actDraft } from '../call/audit-draft.ts'
import type { Basics } from '../call/basics.ts'
import type { Op } from '../call/op.ts'

export type InviteDeps = Pick<Basics, 'storage' | 'auditLog' | 'clock' | 'ids' | 'digest'> & {
  readonly keyFiles: NodeKeyFiles
  readonly settings: {
    readonly database_url: string | null
    readonly database_direct_url: string | null
  }
  readonly listeners: {
    readonly page: string | null
    /** Certificate that the page is served with. */
    readonly certificate: () => Pick<Certificate, 'fingerprint'> | null
  }
}

const inviteMs = 10 * 60_000
const metaKey = 'node_invite'

type StoredInvite = { readonly hash: string; readonly expires_ms: number }

const readInvite = async (meta: MetaStore): Promise<StoredInvite | null> => {
  const text = await meta.get(metaKey)
  return text === null || text === '' ? null : parseStored<StoredInvite>(text, `meta.${metaKey}`)
}

/** Another node may fetch the keys with it, once; the one before it is no longer valid. */
export async function inviteNode(
  op: Op,
  deps: InviteDeps,
  { url }: { readonly url?: string | undefined },
): Promise<NodeInvite> {
  const { storage, listeners, clock } = deps
  if (!storage.isNetworked)
    throw new GatehouseError('Conflict', {
      detail: 'The store is SQLite, which has one node; begin one on PostgreSQL.',
    })
  const [page, fingerprint] = [url ?? listeners.page, listeners.certificate()?.fingerprint]
  if (page === null || fingerprint === undefined)
    throw new GatehouseError('Conflict', { detail: 'Only a server that runs can invite a node.' })
  const secret = deps.ids.secret().toString('base64url')
  const invite: StoredInvite = {
    hash: deps.digest.sha256(secret),
    expires_ms: clock.now() + inviteMs,
  }
  await deps.auditLog.transaction(async (tx) => {
    await tx.meta.set(metaKey, JSON.stringify(invite))
    tx.append(actDraft(op, 'node.invited', {}))
  })
  const origin = new URL(page).origin
  return {
    url: origin,
    fingerprint,
    secret,
    expires_at: new Date(clock.wall() + inviteMs).toISOString(),
  }
}

/**
 * The keys, for the secret of an invitation.
 * @SECURITY They leave once for each invitation, and an entry says so before they do; invite.test.ts.
 */
export async function admitNode(
  op: Op,
  deps: InviteDeps,
  { secret }: { readonly secret: string },
): Promise<NodeKeys> {
  const keys = deps.keyFiles.read()
  await deps.auditLog.transaction(async (tx) => {
    const invite = await readInvite(tx.meta)
    const holds =
      invite !== null &&
      invite.expires_ms > deps.clock.now() &&
      deps.digest.equal(invite.hash, deps.digest.sha256(secret))
    if (!holds) throw new GatehouseError('NodeInviteInvalid')
    await tx.meta.set(metaKey, '')
    tx.append(actDraft(op, 'node.admitted', {}))
  })
  const { database_url, database_direct_url } = deps.settings
  return { ...keys, database_url, database_direct_url }
}
