import { type AddUpstream, GatehouseError, type UpstreamReview } from '@gatehouse/contract'
import { compareTools, type Seen } from '../../domain/upstream/pins.ts'
import type {
  UpstreamConfig,
  UpstreamConnection,
  UpstreamStore,
  WireTool,
} from '../../ports/upstream.ts'
import { actDraft } from '../call/audit-draft.ts'
import type { Op } from '../call/op.ts'
import type { Turn } from '../call/turn.ts'
import { reviewOf } from './show-upstream.ts'
import { orderOf, toRow, type UpstreamRecord } from './stored.ts'
import type { UpstreamDeps } from './upstream-deps.ts'
import { takeUpstreamTurn } from './upstream-turn.ts'

const upstreamsMax = 100

const refused = (upstream: string, detail: string): GatehouseError =>
  new GatehouseError('UpstreamRefused', { upstream, detail })

/** Under which a value that was given with a server is kept for it. */
export const secretNameOf = (upstream: string, key: string): string =>
  `service:upstream.${upstream}.${key}`

/** Order for the credentials of single agents. */
type OwnOrder = Pick<AddUpstream, 'name' | 'per_agent' | 'agent_credentials' | 'own_only'> & {
  readonly credentials: Readonly<Record<string, unknown>>
}

const configOf = (input: AddUpstream): UpstreamConfig => {
  const { name, server, grants, credentials, per_agent } = input
  if (server.kind === 'http') {
    const { username, password } = new URL(server.url)
    if (username !== '' || password !== '')
      throw refused(name, 'its address holds a password: give it as a credential instead')
    if (grants.folders.length > 0 || grants.hosts.length > 0)
      throw refused(name, 'folders and hosts are granted to servers that run on this machine alone')
    if (Object.keys(grants.environment).length > 0)
      throw refused(name, 'a server over HTTP has no environment: give a header as a credential')
  } else {
    const twice = Object.keys(credentials).find((key) => key in grants.environment)
    if (twice !== undefined) throw refused(name, `${twice} is given as a value and as a credential`)
  }
  return {
    server,
    grants,
    per_agent,
    credentials: Object.fromEntries(
      Object.entries(credentials).map(([key, one]) => [
        key,
        'secret' in one ? one.secret : secretNameOf(name, key),
      ]),
    ),
    ...ownOf(input),
  }
}

/** Of each agent alone. Nothing is in the configuration of a server where no agent has its own. */
export const ownOf = ({
  name,
  per_agent,
  credentials,
  agent_credentials = {},
  own_only,
}: OwnOrder): Pick<UpstreamConfig, 'agent_credentials' | 'own_only'> => {
  const owners = Object.entries(agent_credentials)
  const isOwnOnly = own_only ?? (owners.length > 0 && Object.keys(credentials).length === 0)
  for (const [given, isGiven] of [
    ['agent_credentials', owners.length > 0],
    ['own_only', isOwnOnly],
  ] as const)
    if (isGiven && !per_agent)
      throw refused(name, `${given} needs a session of each agent, and they share one (per_agent)`)
  for (const [agent, own] of owners)
    if (Object.keys(own).length === 0)
      throw refused(name, `agent_credentials.${agent} names no secret`)
  return {
    ...(owners.length > 0
      ? {
          agent_credentials: Object.fromEntries(
            owners.map(([agent, own]) => [
              agent,
              Object.fromEntries(Object.entries(own).map(([key, { secret }]) => [key, secret])),
            ]),
          ),
        }
      : {}),
    ...(isOwnOnly ? { own_only: true } : {}),
  }
}

/** Only agents that there are, with secrets that they may use at this server. */
export async function assertOwn(
  { storage, secrets }: Pick<UpstreamDeps, 'storage' | 'secrets'>,
  {
    name,
    server,
    agent_credentials = {},
  }: Pick<AddUpstream, 'name' | 'server' | 'agent_credentials'>,
): Promise<void> {
  const host = server.kind === 'http' ? new URL(server.url).host : null
  for (const [agent, own] of Object.entries(agent_credentials)) {
    const field = `agent_credentials.${agent}`
    if (!(await storage.agents.find(agent))) throw refused(name, `${field}: there is no such agent`)
    for (const [key, { secret }] of Object.entries(own)) {
      const use = { name: secret, agent, capability: `service:upstream.${name}`, host }
      await secrets
        .use(use, async () => {})
        .catch((cause: unknown) => {
          if (!(cause instanceof GatehouseError) || cause.type !== 'SecretNotAllowed') throw cause
          throw refused(name, `${field}.${key}: ${lowerFirst(cause.message)}`)
        })
    }
  }
}

const lowerFirst = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1)

export const seenOf = (connection: UpstreamConnection, tools: readonly WireTool[]): Seen => {
  const { name, version, protocol } = connection.identity
  const { certificate, tellsChanges, changingLists } = connection
  return {
    server: name,
    version,
    protocol,
    ...(certificate ? { certificate } : {}),
    ...(tellsChanges ? { tells_changes: true } : {}),
    ...(changingLists.length > 0 ? { changing_lists: changingLists } : {}),
    tools,
  }
}

type Found = Pick<UpstreamRecord, 'seen' | 'seen_ms' | 'login'> & {
  readonly hosts_refused: string[]
}

/** A server that wants a login first is kept without its tools: they are seen once a person has logged in. */
async function look(op: Op, deps: UpstreamDeps, draft: UpstreamRecord): Promise<Found> {
  try {
    return { ...(await connectOnce(op, deps, draft)), seen_ms: deps.clock.wall(), login: null }
  } catch (cause) {
    if (!(cause instanceof GatehouseError) || cause.type !== 'UpstreamNeedsLogin') throw cause
    return { seen: null, seen_ms: null, login: { state: 'needed' }, hosts_refused: [] }
  }
}

/** Connects once, to see what is there. Values that are only tried are kept no longer than that. */
async function connectOnce(op: Op, deps: UpstreamDeps, draft: UpstreamRecord) {
  const connection = await deps.host.connect(orderOf(draft, null), op.signal)
  try {
    const tools = await connection.listTools(op.signal)
    return { seen: seenOf(connection, tools), hosts_refused: [...connection.hostsRefused()] }
  } finally {
    await connection.close()
  }
}

const lacks: Readonly<Record<UpstreamConfig['server']['kind'], string>> = {
  stdio:
    'Files that it names with --folder, hosts that it asks for with --host, tokens with --credential.',
  http: 'A header with --credential. A server in your own network must be listed in outbound.private_targets, and a port other than 80 and 443 in outbound.ports.',
}

const recoveryOf = ({ server }: UpstreamConfig) => [
  { action: 'grant what it lacks', description: lacks[server.kind] },
  { action: 'gatehouse upstream add', description: 'Try again; nothing was kept.' },
]

/** A failure before anything is kept leads nowhere but to another try. */
const lookFailed = (cause: unknown, config: UpstreamConfig): unknown =>
  cause instanceof GatehouseError && cause.type === 'UpstreamFailed'
    ? new GatehouseError(cause.type, cause.facts, { cause, recovery: recoveryOf(config) })
    : cause

async function keepCredentials(deps: UpstreamDeps, input: AddUpstream): Promise<void> {
  for (const [key, one] of Object.entries(input.credentials))
    if ('value' in one) await deps.secrets.keepForService(secretNameOf(input.name, key), one.value)
}

export async function forgetCredentials(
  { secrets }: Pick<UpstreamDeps, 'secrets'>,
  { name, config }: Pick<UpstreamRecord, 'name' | 'config'>,
): Promise<void> {
  for (const [key, secret] of Object.entries(config.credentials))
    if (secret === secretNameOf(name, key)) await secrets.forgetForService(secret)
}

/** Raises `Conflict` where there is a server of that name, and `QuotaExceeded` where there is no room for one. */
async function assertRoom(upstreams: UpstreamStore, name: string): Promise<void> {
  if (await upstreams.find(name))
    throw new GatehouseError(
      'Conflict',
      { detail: `There is a server ${name} already: remove it first, or choose another name.` },
      { recovery: [{ action: `gatehouse upstream show ${name}`, description: 'Look at it.' }] },
    )
  if ((await upstreams.list()).length >= upstreamsMax)
    throw new GatehouseError('QuotaExceeded', { limit: upstreamsMax, what: 'upstream servers' })
}

/** Connects a server and shows what it has. Nothing of it is offered before a person has accepted it. */
export async function addUpstream(
  op: Op,
  deps: UpstreamDeps,
  input: AddUpstream,
): Promise<UpstreamReview> {
  const { name } = input
  deps.table.assertFree(name)
  const config = configOf(input)
  await assertOwn(deps, input)
  await using turn = await takeUpstreamTurn(deps, name)
  await assertRoom(deps.storage.upstreams, name)
  const draft: UpstreamRecord = {
    name,
    config,
    accepted: { server: null, tools: [] },
    seen: null,
    login: null,
    agent_logins: {},
    change_number: 1,
    added_ms: deps.clock.wall(),
    seen_ms: null,
  }
  let isStored = false
  try {
    await keepCredentials(deps, input)
    const { hosts_refused, ...found } = await look(op, deps, draft)
    const record = { ...draft, ...found }
    if (!input.dry_run) {
      await store(op, deps, record, turn)
      isStored = true
    }
    const compared = input.dry_run
      ? compareTools(await deps.table.rules(name), record.accepted, record.seen)
      : await deps.table.admit(record)
    return { ...reviewOf(deps, record, compared), hosts_refused }
  } catch (cause) {
    throw lookFailed(cause, config)
  } finally {
    if (!isStored) await forgetTried(deps, draft, turn)
  }
}

/** Forgets what was kept for a try alone; what is there after the turn was lost is that of somebody else. */
async function forgetTried(deps: UpstreamDeps, draft: UpstreamRecord, turn: Turn): Promise<void> {
  const isOurs = await turn.keep().then(
    () => true,
    () => false,
  )
  if (isOurs && !(await deps.storage.upstreams.find(draft.name)))
    await forgetCredentials(deps, draft)
}

const store = (
  op: Op,
  { auditLog }: UpstreamDeps,
  record: UpstreamRecord,
  turn: Turn,
): Promise<void> =>
  auditLog.transaction(async (tx) => {
    const { name, config, seen } = record
    await turn.keep(tx.meta)
    await assertRoom(tx.upstreams, name)
    await tx.upstreams.put(toRow(record))
    const tools = seen?.tools.length ?? 0
    const { per_agent: _all, ...given } = config
    const facts = { name, ...given, tools }
    tx.append(actDraft(op, 'upstream.added', { arguments: facts }))
  })
