import {
  type FinishUpstreamLogin,
  GatehouseError,
  type LoginUpstream,
  type UpstreamLoginStart,
} from '@gatehouse/contract'
import { actDraft } from '../call/audit-draft.ts'
import type { Op } from '../call/op.ts'
import type { Connections } from './connections.ts'
import { type LoginState, readRow, toRow, type UpstreamRecord } from './stored.ts'
import { findUpstream, type UpstreamDeps } from './upstream-deps.ts'

type LoginDeps = UpstreamDeps & { readonly connections: Connections }

/** Where to log in. Raises `UpstreamRefused` for a server that no login is for. */
const serverOf = ({ name, config }: UpstreamRecord): { readonly name: string; url: string } => {
  const refused = (detail: string) =>
    new GatehouseError('UpstreamRefused', { upstream: name, detail })
  if (config.server.kind !== 'http')
    throw refused('a program on this machine is given its credentials when it is added')
  if (Object.keys(config.credentials).some((key) => key.toLowerCase() === 'authorization'))
    throw refused('it was added with a header authorization, in place of a login')
  return { name, url: new URL(config.server.url).href }
}

export async function beginLogin(
  op: Op,
  deps: LoginDeps,
  { name, redirect_url, client_id, client_secret }: { name: string } & LoginUpstream,
): Promise<UpstreamLoginStart> {
  const server = serverOf(await findUpstream(deps, name))
  if (client_id === undefined && client_secret !== undefined)
    throw new GatehouseError('UpstreamRefused', {
      upstream: name,
      detail: 'a secret of a client is given without its id',
    })
  const client = client_id === undefined ? null : { id: client_id, secret: client_secret ?? null }
  const begun = await deps.logins.begin({ ...server, redirect_url, client }, op.signal)
  const { address, state, issuer, expires_ms } = begun
  const facts = { name, issuer, redirect_url, ...(client ? { client_id: client.id } : {}) }
  await deps.auditLog.append(actDraft(op, 'upstream.login_begun', { arguments: facts }))
  return { name, address, state, issuer, expires_at: new Date(expires_ms).toISOString() }
}

async function setLogin(
  op: Op,
  { auditLog, table }: LoginDeps,
  name: string,
  change: { readonly act: string; readonly login: LoginState; readonly facts: object },
): Promise<void> {
  const record = await auditLog.transaction(async (tx) => {
    const row = await tx.upstreams.find(name)
    if (!row) throw new GatehouseError('UpstreamNotFound', { upstream: name.slice(0, 100) })
    const current = readRow(row)
    const { login, act, facts } = change
    const next = { ...current, login, change_number: current.change_number + 1 }
    await tx.upstreams.put(toRow(next))
    tx.append(actDraft(op, act, { arguments: { name, ...facts } }))
    return next
  })
  // Calls go by what is offered.
  await table.offer(record)
}

/** Redeems the answer of a login. Codes and tokens are in no entry. */
export async function finishLogin(
  op: Op,
  deps: LoginDeps,
  { name, redirected }: { name: string } & FinishUpstreamLogin,
): Promise<void> {
  const server = serverOf(await findUpstream(deps, name))
  try {
    const login = await deps.logins.finish(server, redirected, op.signal)
    const state: LoginState = { state: 'done', ...login, at_ms: deps.clock.wall() }
    const change = { act: 'upstream.logged_in', login: state, facts: login }
    await setLogin(op, deps, name, change).catch(async (cause: unknown) => {
      // It was removed meanwhile: its tokens are nobody's.
      await deps.logins.end(name)
      throw cause
    })
  } catch (cause) {
    const detail = cause instanceof GatehouseError ? { reason: cause.message } : {}
    const failed = { arguments: { name }, result: 'error', detail } as const
    await deps.auditLog.append(actDraft(op, 'upstream.login_refused', failed))
    throw cause
  }
  await deps.connections.end(name)
}

export async function logout(op: Op, deps: LoginDeps, name: string): Promise<void> {
  const { login } = await findUpstream(deps, name)
  if (login?.state === 'done') {
    // First of all nothing connects with it any more.
    const needed: LoginState = { state: 'needed' }
    const facts = { issuer: login.issuer }
    await setLogin(op, deps, name, { act: 'upstream.logged_out', login: needed, facts })
  }
  await deps.connections.end(name)
  await endLogin(op, deps, name)
}

/** Deletes what is kept of logins, and says in the log whether tokens were taken back. */
export async function endLogin(op: Op, deps: LoginDeps, name: string): Promise<void> {
  const { revoked } = await deps.logins.end(name)
  await deps.auditLog.append(
    actDraft(op, 'upstream.tokens_deleted', { arguments: { name, revoked } }),
  )
}
