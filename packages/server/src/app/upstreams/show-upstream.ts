import type { Upstream, UpstreamReview, UpstreamStatus, UpstreamTool } from '@gatehouse/contract'
import type { CredentialNames } from '../../domain/upstream/access.ts'
import { markTool } from '../../domain/upstream/marks.ts'
import { type ComparedTool, isOtherCertificate } from '../../domain/upstream/pins.ts'
import { suggestedTier } from '../../domain/upstream/suggest-rules.ts'
import { visibleText } from '../../domain/upstream/visible-text.ts'
import type { Digest } from '../../ports/digest.ts'
import type { Connections } from './connections.ts'
import type { DoneLogin, UpstreamRecord } from './stored.ts'

export type ShowDeps = {
  readonly digest: Digest
  readonly connections: Pick<Connections, 'failureOf' | 'countOf' | 'hostsRefused'>
}

const iso = (ms: number): string => new Date(ms).toISOString()

const isText = (value: unknown): value is string => typeof value === 'string'

const properties = (schema: unknown): readonly string[] => {
  const found =
    typeof schema === 'object' && schema !== null
      ? (schema as { readonly properties?: unknown }).properties
      : null
  return typeof found === 'object' && found !== null ? Object.keys(found) : []
}

/** Every character is to be seen: what shows nothing stands as its code. */
const asShown = (definition: object | null): string | null =>
  definition === null
    ? null
    : JSON.stringify(definition, null, 2).replace(
        /[\p{Cf}\p{Co}\u034f\u115f\u1160\u3164\uffa0]/gu,
        (found) => `\\u{${(found.codePointAt(0) ?? 0).toString(16)}}`,
      )

const toolRecord = (one: ComparedTool, names: readonly string[]): UpstreamTool => {
  const definition = one.found ?? one.accepted?.definition ?? { name: one.tool }
  const differs =
    one.state === 'changed' ||
    one.state === 'vanished' ||
    (one.state === 'declined' && one.accepted !== null)
  const { title, description } = definition as Readonly<Record<string, unknown>>
  return {
    capability: one.capability,
    tool: one.tool,
    title: isText(title) ? visibleText(title, 100) : null,
    description: isText(description) ? visibleText(description) : '',
    state: one.state,
    problem: one.problem,
    renamed_from: one.renamed_from,
    suggested_tier: suggestedTier(definition),
    arguments: [...properties((definition as { readonly inputSchema?: unknown }).inputSchema)],
    marks: [
      ...markTool(
        definition,
        names.filter((name) => name !== one.tool),
      ),
    ],
    definition_hash: one.hash,
    accepted: differs ? asShown(one.accepted?.definition ?? null) : null,
    found: differs ? asShown(one.found) : null,
  }
}

const count = (compared: readonly ComparedTool[], ...states: readonly ComparedTool['state'][]) =>
  compared.filter(({ state }) => states.includes(state)).length

const reasonOf = (out: number, unaccepted: number): string => {
  if (out === 0)
    return unaccepted === 1 ? '1 tool waits for a person' : `${unaccepted} tools wait for a person`
  return out === 1
    ? '1 accepted tool has changed or is gone'
    : `${out} accepted tools have changed or are gone`
}

/** New tools beside accepted ones are an offer, which a person may leave; what was accepted and is out of service is not. */
const statusOf = (
  { name, seen, accepted, login, agent_logins }: UpstreamRecord,
  compared: readonly ComparedTool[],
  failure: string | null,
): { readonly status: UpstreamStatus; readonly reason: string | null } => {
  // Where agents have logins of their own, a common one may never come.
  if (login?.state === 'needed' && Object.keys(agent_logins).length === 0)
    return { status: 'needs_login', reason: `it wants a login: gatehouse upstream login ${name}` }
  if (seen !== null && isOtherCertificate(accepted, seen))
    return { status: 'needs_review', reason: 'its certificate waits for a person' }
  if (failure !== null) return { status: 'failing', reason: failure }
  const out = count(compared, 'changed', 'vanished')
  const unaccepted = count(compared, 'offered') === 0 ? count(compared, 'new') : 0
  const waiting = out + unaccepted
  if (waiting > 0)
    return {
      status: 'needs_review',
      reason: reasonOf(out, unaccepted),
    }
  return seen === null ? { status: 'unconnected', reason: null } : { status: 'ready', reason: null }
}

const loginRecord = ({ issuer, client_id, scopes, at_ms }: DoneLogin) => ({
  issuer,
  client_id,
  scopes: [...scopes],
  at: iso(at_ms),
})

const sourcesOf = (credentials: CredentialNames): Upstream['credentials'] =>
  mapValues(credentials, (secret) => ({ secret }))

const mapValues = <A, B>(of: Readonly<Record<string, A>>, to: (value: A) => B): Record<string, B> =>
  Object.fromEntries(Object.entries(of).map(([key, value]) => [key, to(value)]))

export const upstreamRecord = (
  { connections }: ShowDeps,
  record: UpstreamRecord,
  compared: readonly ComparedTool[],
): Upstream => {
  const { name, config, seen, login } = record
  return {
    name,
    server: config.server,
    grants: config.grants,
    credentials: sourcesOf(config.credentials),
    agent_credentials: mapValues(config.agent_credentials ?? {}, sourcesOf),
    own_only: config.own_only === true,
    per_agent: config.per_agent,
    login: login?.state === 'done' ? loginRecord(login) : null,
    agent_logins: mapValues(record.agent_logins, loginRecord),
    ...statusOf(record, compared, connections.failureOf(name)),
    identity: seen && { name: seen.server, version: seen.version, protocol: seen.protocol },
    certificate: seen?.certificate ?? null,
    accepted_certificate: record.accepted.certificate ?? null,
    connections: connections.countOf(name),
    offered: count(compared, 'offered'),
    waiting: count(compared, 'new', 'changed', 'vanished'),
    declined: count(compared, 'declined'),
    refused: count(compared, 'refused'),
    version: record.change_number,
    added_at: iso(record.added_ms),
    seen_at: record.seen_ms === null ? null : iso(record.seen_ms),
  }
}

/** The digest is of all that a person is asked to accept: the server and every definition. */
export const reviewDigest = (
  { digest }: ShowDeps,
  { name, config, seen }: UpstreamRecord,
): string => `sha256:${digest.sha256(digest.canonical({ name, config, seen }))}`

export const reviewOf = (
  deps: ShowDeps,
  record: UpstreamRecord,
  compared: readonly ComparedTool[],
): UpstreamReview => {
  const names = compared.map(({ tool }) => tool)
  return {
    upstream: upstreamRecord(deps, record, compared),
    tools: compared.map((one) => toolRecord(one, names)),
    digest: reviewDigest(deps, record),
    hosts_refused: [...deps.connections.hostsRefused(record.name)],
  }
}
