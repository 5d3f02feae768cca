import {
  type ConnectedService,
  type ConnectService,
  GatehouseError,
  type ServiceCheck,
  ServiceName,
  type ServiceTest,
} from '@gatehouse/contract'
import type { ServiceAdapter } from '../../ports/service-adapter.ts'
import type { StoredService } from '../../ports/services.ts'
import type { Stores } from '../../ports/storage.ts'
import { actDraft } from '../call/audit-draft.ts'
import type { Op } from '../call/op.ts'
import { within } from '../call/within.ts'
import type { ProxyDeps } from './deps.ts'
import { dropReplica } from './drop-replica.ts'
import { failureText } from './failure-text.ts'
import { existing, serviceRecordOf } from './find-service.ts'
import { firstGeneration } from './generations.ts'
import { connectionOf, secretName } from './open-services.ts'
import { takeServiceTurn } from './service-turn.ts'

const testSeconds = 60
const servicesMax = 100

const invalid = (detail: string): never => {
  throw new GatehouseError('ServiceSettingsInvalid', { detail })
}

const parseSettings = (adapter: ServiceAdapter, given: Record<string, unknown>): string => {
  const parsed = adapter.settings.safeParse(given)
  if (parsed.success) return JSON.stringify(parsed.data)
  const faults = parsed.error.issues.map(({ path, message }) =>
    path.length === 0 ? message : `${path.join('.')}: ${message}`,
  )
  return invalid(faults.join('; '))
}

/** The names of the credentials it will have: those given now, and those kept from before. */
const secretsOf = (
  adapter: ServiceAdapter,
  given: Readonly<Record<string, string>>,
  kept: readonly string[],
): string[] => {
  const known = adapter.secrets.map(({ name }) => name)
  for (const name of Object.keys(given))
    if (!known.includes(name))
      invalid(`there is no credential ${name}; there are ${known.join(', ') || 'none'}`)
  const all = known.filter((name) => name in given || kept.includes(name))
  for (const { name, required, description } of adapter.secrets)
    if (required && !all.includes(name))
      invalid(`the credential ${name} is missing: ${description}`)
  return all
}

async function assertAgents(deps: ProxyDeps, agents: readonly string[]): Promise<void> {
  for (const name of agents)
    if (name !== '*' && !(await deps.storage.agents.find(name)))
      throw new GatehouseError('AgentNotFound', { agent: name })
}

/** Looks at each thing that must work. A test that breaks down is a check that failed. */
async function check(
  op: Op,
  deps: ProxyDeps,
  service: StoredService,
  given: Readonly<Record<string, string>>,
): Promise<ServiceCheck[]> {
  try {
    const connection = connectionOf(deps, service, given)
    const checks = await within(deps.clock, testSeconds, op.signal, (signal) =>
      deps.opened.adapterOf(service.kind).test(connection, signal),
    )
    return checks.map((one) => ({ ...one, detail: scrubbed(deps, given, one.detail) }))
  } catch (cause) {
    const detail = scrubbed(deps, given, failureText(deps, cause))
    return [
      { name: 'connection', ok: false, detail, fix: 'Check that the service can be reached.' },
    ]
  }
}

/** Credentials that the vault does not know yet are not known to its scrubber either. */
const scrubbed = (
  { secrets }: ProxyDeps,
  given: Readonly<Record<string, string>>,
  text: string,
): string => {
  let clean = secrets.scrub(text)
  for (const [name, value] of Object.entries(given))
    clean = clean.replaceAll(value, `[secret:${name}]`)
  return clean
}

const liveOf = (known: StoredService | null): StoredService | null =>
  known?.status === 'disconnected' ? null : known

/** Draft of a service that is not there yet, or that takes the place of one. */
const drafted = (
  deps: ProxyDeps,
  input: ConnectService,
  known: StoredService | null,
  generation: number,
): StoredService => {
  // First whether there is such a kind: its name is a service's name too, unlike any other text.
  const adapter = deps.opened.adapterOf(input.kind)
  const name = input.name ?? ServiceName.parse(input.kind)
  if (known && known.kind !== input.kind)
    throw new GatehouseError('Conflict', {
      detail: `${name} is a service of kind ${known.kind}: choose another name, or forget it first.`,
    })
  const settings_json = parseSettings(adapter, input.settings)
  const live = liveOf(known)
  const same = live?.settings_json === settings_json
  return {
    name,
    kind: input.kind,
    settings_json,
    secrets: secretsOf(adapter, input.secrets, live?.secrets ?? []),
    agents: [...new Set(input.agents)],
    connected_ms: deps.clock.wall(),
    generation,
    status: same && live ? live.status : 'syncing',
    // The same place with other credentials: what was read stays.
    cursor: same && live ? live.cursor : null,
    syncs: known?.syncs ?? 0,
    full: same && live ? live.full : true,
    last_sync_ms: live?.last_sync_ms ?? null,
    next_sync_ms: deps.clock.now(),
    failing_since_ms: null,
    failures: 0,
    reason: null,
    progress_json: null,
  }
}

/** Raises `Conflict` where the service is another one than it was, and `QuotaExceeded` where there is no room for a new one. */
async function assertFree(
  { services }: Pick<Stores, 'services'>,
  name: string,
  known: StoredService | null,
): Promise<void> {
  const current = await services.find(name)
  if (current?.generation !== known?.generation)
    throw new GatehouseError('Conflict', { detail: `${name} was connected by somebody else.` })
  if (!current && (await services.list()).length >= servicesMax)
    throw new GatehouseError('QuotaExceeded', { limit: servicesMax, what: 'services' })
}

/** Keeps the credentials and the settings, both of one who connects. */
async function store(
  op: Op,
  deps: ProxyDeps,
  { input, name, known }: { input: ConnectService; name: string; known: StoredService | null },
): Promise<void> {
  await using turn = await takeServiceTurn(deps, name)
  await assertFree(deps.storage, name, known)
  for (const [field, value] of Object.entries(input.secrets)) {
    await turn.keep()
    await deps.secrets.keepForService(secretName(name, field), value)
  }
  await deps.auditLog.transaction(async (tx) => {
    await turn.keep(tx.meta)
    // Syncs have gone on meanwhile, and one of everything may have been asked for.
    const current = await tx.services.find(name)
    if (!current) await assertFree(tx, name, known)
    const generation = current ? current.generation + 1 : await firstGeneration(tx.meta)
    const service = drafted(deps, input, current, generation)
    await tx.services.put(service)
    const { kind, agents } = service
    tx.append(actDraft(op, 'service.connected', { arguments: { name, kind, agents } }))
  })
}

/** Connects a service, or connects it anew, once everything about it was seen to work. */
export async function connectService(
  op: Op,
  deps: ProxyDeps,
  input: ConnectService,
): Promise<ConnectedService> {
  const name = input.name ?? input.kind
  const known = await deps.storage.services.find(name)
  const service = drafted(deps, input, known, 0)
  await assertAgents(deps, service.agents)
  const checks = await check(op, deps, service, input.secrets)
  const wrong = checks.filter(({ ok }) => !ok)
  if (wrong.length > 0)
    throw new GatehouseError(
      'ServiceConnectionFailed',
      { detail: wrong.map((one) => `${one.name}: ${one.detail}`).join('; ') },
      {
        recovery: checks.map((one) => ({
          action: `${one.ok ? 'well' : 'fix'}: ${one.name}`,
          description: one.ok ? one.detail : `${one.detail} ${one.fix ?? ''}`.trim(),
        })),
      },
    )
  // A new connection begins empty: its runs are counted from one again, and would pass over what an old one left.
  if (!liveOf(known)) await dropReplica(deps, name)
  await store(op, deps, { input, name, known })
  deps.opened.forget(name)
  deps.nudge.syncs()
  return { service: await serviceRecordOf(deps, name), checks }
}

/** Looks at a connected service as it was looked at when it was connected. */
export async function testService(
  op: Op,
  deps: ProxyDeps,
  { name }: { readonly name: string },
): Promise<ServiceTest> {
  const service = await existing(deps, name)
  if (service.status === 'disconnected')
    throw new GatehouseError('ServiceUnavailable', { service: name, detail: 'it is disconnected' })
  const checks = await check(op, deps, service, {})
  return { ok: checks.every(({ ok }) => ok), checks }
}
