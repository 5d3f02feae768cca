import { CliError } from '../cli-error.ts'
import { type ClientSpec, clients, type Place, type Scope, scopes } from '../clients/client.ts'
import { readConfigFile, textOf } from '../clients/config-file.ts'
import { changeEntry, loadFormat, readServers } from '../clients/config-format.ts'
import { isGate } from '../clients/inspect-client.ts'
import { type Definition, NotImportable, readDefinition } from './definition.ts'

/** A configuration of a client that has servers. */
export type FoundConfig = {
  readonly client: ClientSpec
  readonly scope: Scope
  /** Folder of the project. */
  readonly folder: string
  readonly file: string
  /** Whether Gatehouse is among the servers that are in force there. */
  readonly connected: boolean
}

export type FoundServer = {
  readonly config: FoundConfig
  /** Its name in the client. */
  readonly name: string
  readonly entry: unknown
} & (
  | { readonly definition: Definition; readonly problem: null }
  | { readonly definition: null; readonly problem: string }
)

export type UnreadConfig = { readonly client: string; readonly problem: string }

export type Found = {
  readonly servers: readonly FoundServer[]
  /** Configurations that could not be read. */
  readonly unread: readonly UnreadConfig[]
}

type Question = {
  readonly ids: readonly string[]
  readonly scope: Scope | undefined
  readonly place: Place
}

function definitionOf(config: FoundConfig, entry: unknown, place: Place) {
  const project = config.scope === 'project' ? config.folder : null
  try {
    return {
      definition: readDefinition(entry, { client: config.client, place, project }),
      problem: null,
    }
  } catch (error) {
    if (error instanceof NotImportable) return { definition: null, problem: error.message }
    throw error
  }
}

/** Servers of one configuration; each that could not be taken out again says so. */
async function readConfig(client: ClientSpec, scope: Scope, place: Place, connectedAbove: boolean) {
  const name = client.files[scope]?.(place)
  const found = name === undefined ? null : await readConfigFile(name, 0o600)
  if (found === null || found.bytes === null) return null
  const { path } = found
  const text = textOf(found)
  const format = await loadFormat(client.format)
  const entries = Object.entries(readServers(format, path, text, client.key))
  const connected = connectedAbove || entries.some(([key, entry]) => isGate(key, entry))
  const config: FoundConfig = { client, scope, folder: place.folder, file: path, connected }
  const servers = entries
    .filter(([key, entry]) => !isGate(key, entry))
    .map(([key, entry]): FoundServer => {
      const server = { config, name: key, entry }
      try {
        changeEntry(format, { file: path, text, key: client.key, name: key, entry: undefined })
      } catch (error) {
        if (!(error instanceof CliError)) throw error
        return { ...server, definition: null, problem: error.message }
      }
      return { ...server, ...definitionOf(config, entry, place) }
    })
  return { config, servers }
}

/** The servers that clients have configured for this person, and for the project in the folder. */
export async function findServers({ ids, scope, place }: Question): Promise<Found> {
  const servers: FoundServer[] = []
  const unread: UnreadConfig[] = []
  const files = new Set<string>()
  for (const client of clients.filter(({ id }) => ids.length === 0 || ids.includes(id))) {
    let connected = false
    for (const one of scopes)
      try {
        const read = await readConfig(client, one, place, connected)
        if (read === null) continue
        connected = read.config.connected
        if ((scope !== undefined && scope !== one) || files.has(read.config.file)) continue
        files.add(read.config.file)
        servers.push(...read.servers)
      } catch (error) {
        if (!(error instanceof CliError)) throw error
        unread.push({ client: client.title, problem: error.message })
      }
  }
  return { servers, unread }
}
