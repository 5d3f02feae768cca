import { resolve } from 'node:path'
import { usageError } from '../cli-error.ts'
import { homeOf, type Place, type Scope, scopes } from '../clients/client.ts'
import { type ConnectPlan, findDataDir, planConnection } from '../clients/connect-client.ts'
import { findTarget } from '../clients/find-client.ts'
import type { Context } from '../define.ts'
import { type Candidate, candidatesOf, type UsableServer } from './candidates.ts'
import { type Found, type FoundConfig, type FoundServer, findServers } from './find-servers.ts'
import { readImports } from './import-record.ts'

export type ImportRequest = {
  readonly client: readonly string[]
  readonly scope: Scope | undefined
  readonly folder: string | undefined
  readonly server: readonly string[] | undefined
  readonly grant: readonly string[] | undefined
  readonly host: readonly string[] | undefined
  readonly secret: readonly string[] | undefined
  readonly 'dry-run': boolean
  readonly undo: boolean
}

/** A server that stays in its client, and why. */
export type Left = {
  readonly client: string
  readonly server: string
  readonly file: string
  readonly reason: string
}

export const leftOf = ({ config, name }: FoundServer, reason: string): Left => ({
  client: config.client.id,
  server: name,
  file: config.file,
  reason,
})

export const leftWith = ({ from }: Candidate, reason: string): readonly Left[] =>
  from.map((server) => leftOf(server, reason))

/** Servers that were found, those that are chosen, and those that can't be. */
export type Choice = {
  readonly found: Found
  readonly candidates: readonly Candidate[]
  readonly left: readonly Left[]
  readonly home: string
  readonly dataDir: string
  /** Whether a server answers, or none is needed. */
  readonly served: boolean
}

function chosenOf(found: Found, names: readonly string[] | undefined): readonly FoundServer[] {
  if (names === undefined) return found.servers
  const known = new Set(found.servers.map(({ name }) => name))
  const missing = names.filter((name) => !known.has(name))
  if (missing.length > 0)
    throw usageError(
      `No client here has a server ${missing.join(', ')}; found: ${[...known].join(', ') || 'none'}.`,
    )
  return found.servers.filter(({ name }) => names.includes(name))
}

const isUsable = (server: FoundServer): server is UsableServer => server.problem === null

/** Looks only into files. */
export async function chooseServers(context: Context, given: ImportRequest): Promise<Choice> {
  const folder = resolve(given.folder ?? '.')
  const place: Place = { env: context.io.env, platform: process.platform, folder }
  const named = given.scope === undefined ? undefined : given.folder
  // Says which clients there are, and of which there is no project.
  for (const id of given.client) findTarget(id, given.scope ?? 'user', { ...place, folder: named })
  const isDry = given['dry-run']
  const served = isDry || (await context.isServed())
  const dataDir = isDry ? (await findDataDir(context)).dir : await context.dataDir()
  const found = await findServers({ ids: given.client, scope: given.scope, place })
  const chosen = chosenOf(found, given.server)
  return {
    found,
    candidates: candidatesOf(
      chosen.filter(isUsable),
      await readImports(dataDir),
      given.secret ?? [],
    ),
    left: chosen.flatMap((one) => (one.problem === null ? [] : [leftOf(one, one.problem)])),
    home: homeOf(place),
    dataDir,
    served,
  }
}

/** A client that is to be connected before its servers are taken out. */
export type Connecting = { readonly config: FoundConfig; readonly plan: ConnectPlan }

/** Connections that are missing, one for each client: for the person, where a configuration of theirs is among them. */
export async function planConnections(
  context: Context,
  candidates: readonly Candidate[],
): Promise<readonly Connecting[]> {
  const configs = new Set(candidates.flatMap(({ from }) => from.map(({ config }) => config)))
  const scopeOf = (config: FoundConfig): Scope => (config.scope === 'project' ? 'project' : 'user')
  const byScope = (scope: Scope) => [...configs].filter((config) => scopeOf(config) === scope)
  const connecting: Connecting[] = []
  for (const config of scopes.flatMap(byScope)) {
    const { client, folder } = config
    const scope = scopeOf(config)
    if (config.connected || connecting.some(({ config: one }) => one.client === client)) continue
    const request = { client: client.id, scope, folder: scope === 'user' ? undefined : folder }
    const options = { agent: undefined, start: false, 'no-hooks': true, 'dry-run': false }
    connecting.push({ config, plan: await planConnection(context, { ...request, ...options }) })
  }
  return connecting
}
