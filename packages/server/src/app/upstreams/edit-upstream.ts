import { type AddUpstream, type EditUpstream, GatehouseError } from '@gatehouse/contract'
import { compareTools } from '../../domain/upstream/pins.ts'
import { actDraft } from '../call/audit-draft.ts'
import type { Op } from '../call/op.ts'
import { assertOwn, ownOf } from './add-upstream.ts'
import type { Connections } from './connections.ts'
import { reviewOf } from './show-upstream.ts'
import { readRow, toRow, type UpstreamRecord } from './stored.ts'
import { findUpstream, type UpstreamDeps } from './upstream-deps.ts'

export type EditOrder = {
  readonly name: string
  readonly changes: EditUpstream
  /** Versions that may be changed; null for whatever there is. */
  readonly versions: readonly string[] | null
}

type Deps = UpstreamDeps & { readonly connections: Connections }
type Own = NonNullable<AddUpstream['agent_credentials']>
type Changes = NonNullable<EditUpstream['agent_credentials']>

const mapValues = <A, B>(of: Readonly<Record<string, A>>, to: (value: A) => B): Record<string, B> =>
  Object.fromEntries(Object.entries(of).map(([key, value]) => [key, to(value)]))

/** Agents that have something of their own afterwards. */
const givenIn = (changes: Changes): Own =>
  Object.fromEntries(
    Object.entries(changes).flatMap(([agent, own]) => (own === null ? [] : [[agent, own]])),
  )

/** The server as it is configured after the change. Raises `UpstreamRefused` where that makes no sense. */
function changed(
  record: UpstreamRecord,
  { agent_credentials: changes = {}, own_only }: EditUpstream,
): UpstreamRecord {
  const { name, config } = record
  const { agent_credentials: own = {}, own_only: isOwnOnly = false, ...others } = config
  const known = mapValues(own, (credentials) => mapValues(credentials, (secret) => ({ secret })))
  for (const [agent, given] of Object.entries(changes))
    if (given === null && !(agent in known)) {
      const detail = `agent_credentials.${agent}: it has nothing of its own`
      throw new GatehouseError('UpstreamRefused', { upstream: name, detail })
    }
  const order = {
    ...{ name, per_agent: config.per_agent, credentials: config.credentials },
    ...{ agent_credentials: givenIn({ ...known, ...changes }), own_only: own_only ?? isOwnOnly },
  }
  return { ...record, config: { ...others, ...ownOf(order) } }
}

/** Changes what single agents are let in with. What runs with the old credentials ends before this resolves. */
export async function editUpstream(
  op: Op,
  deps: Deps,
  { name, changes, versions }: EditOrder,
): Promise<ReturnType<typeof reviewOf>> {
  const { agent_credentials = {}, own_only, dry_run } = changes
  const { config } = changed(await findUpstream(deps, name), changes)
  await assertOwn(deps, {
    name,
    server: config.server,
    agent_credentials: givenIn(agent_credentials),
  })
  const { record, isChanged } = await deps.auditLog.transaction(async (tx) => {
    const row = await tx.upstreams.find(name)
    if (!row) throw new GatehouseError('UpstreamNotFound', { upstream: name.slice(0, 100) })
    const current = readRow(row)
    const version = current.change_number
    if (versions !== null && !versions.includes(String(version)))
      throw new GatehouseError('UpstreamChanged', { upstream: name, version })
    const next = { ...changed(current, changes), change_number: version + (dry_run ? 0 : 1) }
    const { digest } = deps
    if (dry_run || digest.canonical(next.config) === digest.canonical(current.config))
      return { record: dry_run ? next : current, isChanged: false }
    await tx.upstreams.put(toRow(next))
    const facts = { name, agent_credentials, ...(own_only === undefined ? {} : { own_only }) }
    tx.append(actDraft(op, 'upstream.edited', { arguments: facts }))
    return { record: next, isChanged: true }
  })
  if (!isChanged)
    return reviewOf(
      deps,
      record,
      compareTools(await deps.table.rules(name), record.accepted, record.seen),
    )
  const compared = await deps.table.offer(record)
  // An agent that is let in by another way, or no more, does not go on by the old one.
  await (own_only === undefined
    ? Promise.all(Object.keys(agent_credentials).map((agent) => deps.connections.end(name, agent)))
    : deps.connections.end(name))
  return reviewOf(deps, record, compared)
}
