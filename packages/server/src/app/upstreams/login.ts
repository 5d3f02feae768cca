import {
  type FinishUpstreamLogin,
  GatehouseError,
  type LoginUpstream,
  type UpstreamLoginStart,
} from '@gatehouse/contract'
import type { LoginOf } from '../../ports/upstream-login.ts'
import { actDraft } from '../call/audit-draft.ts'
import type { Op } from '../call/op.ts'
import type { Connections } from './connections.ts'
import { type DoneLogin, readRow, toRow, type UpstreamRecord } from './stored.ts'
import { findUpstream, type UpstreamDeps } from './upstream-deps.ts'

type LoginDeps = UpstreamDeps & { readonly connections: Connections }

const refused = (upstream: string, detail: string) =>
  new GatehouseError('UpstreamRefused', { upstream, detail })

/** Where to log in. Raises `UpstreamRefused` for a server that no login is for. */
const serverOf = ({ name, config }: UpstreamRecord): { readonly name: string; url: string } => {
  if (config.server.kind !== 'http')
    throw refused(name, 'a program on this machine is given its credentials when it is added')
  return { name, url: new URL(config.server.url).href }
}

/** Raises `UpstreamRefused` where a login would not be used, and `AgentNotFound`. */
async function assertUsed(
  { storage }: Pick<LoginDeps, 'storage'>,
  { name, config }: UpstreamRecord,
  agent: string | null,
): Promise<void> {
  const headers = agent === null ? config.credentials : (config.agent_credentials?.[agent] ?? {})
  const whose = agent === null ? 'it was added with' : `${agent} has been given`
  if (Object.keys(headers).some((key) => key.toLowerCase() === 'authorization'))
    throw refused(name, `${whose} a header authorization, in place of a login`)
  if (agent === null) return
  if (!config.per_agent)
    throw refused(name, 'all agents share one session of it (--shared), so none has a login alone')
  if (!(await storage.agents.find(agent))) throw new GatehouseError('AgentNotFound', { agent })
}

export async function beginLogin(
  op: Op,
  deps: LoginDeps,
  { name, redirect_url, client_id, client_secret, ...given }: { name: string } & LoginUpstream,
): Promise<UpstreamLoginStart> {
  const agent = given.agent ?? null
  const record = await findUpstream(deps, name)
  const server = { ...serverOf(record), agent }
  await assertUsed(deps, record, agent)
  if (client_id === undefined && client_secret !== undefined)
    throw refused(name, 'a secret of a client is given without its id')
  const client = client_id === undefined ? null : { id: client_id, secret: client_secret ?? null }
  const begun = await deps.logins.begin({ ...server, redirect_url, client }, op.signal)
  const { address, state, issuer, expires_ms } = begun
  const facts = { name, issuer, redirect_url, ...(client ? { client_id: client.id } : {}) }
  await deps.auditLog.append(
    actDraft(op, 'upstream.login_begun', { ...forAgent(agent), arguments: facts }),
  )
  return { name, address, state, issuer, expires_at: new Date(expires_ms).toISOString() }
}

/** An entry of what concerns one agent is found by its name. */
const forAgent = (agent: string | null) => (agent === null ? {} : { agent })

type LoginChange = {
  readonly act: string
  readonly next: (record: UpstreamRecord) => Pick<UpstreamRecord, 'login' | 'agent_logins'>
  readonly facts: object
}

async function setLogin(
  op: Op,
  { auditLog, table }: LoginDeps,
  { name, agent }: LoginOf,
  { act, next, facts }: LoginChange,
): Promise<void> {
  const record = await auditLog.transaction(async (tx) => {
    const row = await tx.upstreams.find(name)
    if (!row) throw new GatehouseError('UpstreamNotFound', { upstream: name.slice(0, 100) })
    const current = readRow(row)
    const changed = {
      ...current,
      ...next(current),
      change_number: current.change_number + 1,
    }
    await tx.upstreams.put(toRow(changed))
    tx.append(actDraft(op, act, { ...forAgent(agent), arguments: { name, ...facts } }))
    return changed
  })
  // Calls go by what is offered.
  await table.offer(record)
}

const withLogin =
  (agent: string | null, done: DoneLogin): LoginChange['next'] =>
  ({ login, agent_logins }) =>
    agent === null
      ? { login: done, agent_logins }
      : { login, agent_logins: { ...agent_logins, [agent]: done } }

const withoutLogin =
  (agent: string | null): LoginChange['next'] =>
  ({ login, agent_logins }) => {
    if (agent === null) return { login: { state: 'needed' }, agent_logins }
    const { [agent]: _ended, ...others } = agent_logins
    return { login, agent_logins: others }
  }

/** Redeems the answer of a login, and returns the agent that it is for. Codes and tokens are in no entry. */
export async function finishLogin(
  op: Op,
  deps: LoginDeps,
  { name, redirected }: { name: string } & FinishUpstreamLogin,
): Promise<string | null> {
  const server = serverOf(await findUpstream(deps, name))
  try {
    const { agent, ...login } = await deps.logins.finish(server, redirected, op.signal)
    const done: DoneLogin = { state: 'done', ...login, at_ms: deps.clock.wall() }
    const change = { act: 'upstream.logged_in', next: withLogin(agent, done), facts: login }
    await setLogin(op, deps, { name, agent }, change).catch(async (cause: unknown) => {
      // The server was removed meanwhile: its tokens are nobody's.
      await deps.logins.end({ name, agent })
      throw cause
    })
    await deps.connections.end(name, agent)
    return agent
  } catch (cause) {
    const detail = cause instanceof GatehouseError ? { reason: cause.message } : {}
    const failed = { arguments: { name }, result: 'error', detail } as const
    await deps.auditLog.append(actDraft(op, 'upstream.login_refused', failed))
    throw cause
  }
}

export async function logout(op: Op, deps: LoginDeps, of: LoginOf): Promise<void> {
  const { name, agent } = of
  const { login, agent_logins } = await findUpstream(deps, name)
  const ended = agent === null ? login : agent_logins[agent]
  if (ended?.state === 'done') {
    // First of all nothing connects with it any more.
    const facts = { issuer: ended.issuer }
    const change = { act: 'upstream.logged_out', next: withoutLogin(agent), facts }
    await setLogin(op, deps, of, change)
  }
  await deps.connections.end(name, agent)
  await endLogin(op, deps, of)
}

/** Deletes what is kept of a login, and says in the log whether tokens were taken back. */
export async function endLogin(op: Op, deps: LoginDeps, of: LoginOf): Promise<void> {
  const { name, agent } = of
  const { revoked } = await deps.logins.end(of)
  const facts = { ...forAgent(agent), arguments: { name, revoked } }
  await deps.auditLog.append(actDraft(op, 'upstream.tokens_deleted', facts))
}
