import { CliError } from '../cli-error.ts'
import { type ClientSpec, clients, type Place, type Scope, scopes } from '../clients/client.ts'
import { changeEntry, loadFormat } from '../clients/config-format.ts'
import { isGate } from '../clients/inspect-client.ts'
import { readServerLists, type ServerList } from '../clients/server-lists.ts'
import { type Definition, NotImportable, readDefinition } from './definition.ts'

/** A list of servers in a configuration of a client. */
export type FoundConfig = Omit<ServerList, 'text' | 'entries'> & {
  readonly client: ClientSpec
  /** Whether Gatehouse is among the servers that are in force there. */
  readonly connected: boolean
}

export type FoundServer = {
  readonly config: FoundConfig
  /** Name of the server in the client. */
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
  const project = config.scope === 'user' ? null : config.folder
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

/** Servers of one list; each that could not be taken out again says so. */
async function serversOf(
  client: ClientSpec,
  connected: boolean,
  { text, entries, ...where }: ServerList,
  place: Place,
): Promise<readonly FoundServer[]> {
  const { file, list } = where
  const config = { ...where, client, connected }
  const format = await loadFormat(client.format)
  return Object.entries(entries)
    .filter(([name, entry]) => !isGate(name, entry))
    .map(([name, entry]): FoundServer => {
      const server = { config, name, entry }
      try {
        changeEntry(format, { file, text, list, name, entry: undefined })
      } catch (error) {
        if (!(error instanceof CliError)) throw error
        return { ...server, definition: null, problem: error.message }
      }
      return { ...server, ...definitionOf(config, entry, place) }
    })
}

const hasGate = ({ entries }: ServerList): boolean =>
  Object.entries(entries).some(([name, entry]) => isGate(name, entry))

/** Whether Gatehouse is among the servers that are in force where those of a list are. */
async function isConnected(
  client: ClientSpec,
  { scope, folder }: ServerList,
  lists: readonly ServerList[],
  place: Place,
): Promise<boolean> {
  const isAbove = (one: ServerList) =>
    one.scope === 'user' || (scope !== 'user' && one.folder === folder)
  if (lists.some((one) => isAbove(one) && hasGate(one))) return true
  if (scope !== 'local' || folder === place.folder) return false
  const ofProject = await readServerLists(client, 'project', { ...place, folder })
  return ofProject.some(hasGate)
}

/** The servers that clients have configured for this person, and for the project in the folder. */
export async function findServers({ ids, scope, place }: Question): Promise<Found> {
  const servers: FoundServer[] = []
  const unread: UnreadConfig[] = []
  const seen = new Set<string>()
  const isMeant = (list: ServerList) =>
    scope === undefined ||
    scope === list.scope ||
    (scope === 'project' && list.scope === 'local' && list.folder === place.folder)
  for (const client of clients.filter(({ id }) => ids.length === 0 || ids.includes(id))) {
    const lists: ServerList[] = []
    const tryTo = async (read: () => Promise<void>) => {
      try {
        await read()
      } catch (error) {
        if (!(error instanceof CliError)) throw error
        unread.push({ client: client.title, problem: error.message })
      }
    }
    for (const one of scopes)
      await tryTo(async () => void lists.push(...(await readServerLists(client, one, place))))
    for (const list of lists.filter(isMeant)) {
      const id = JSON.stringify([list.file, ...list.list])
      if (seen.has(id)) continue
      seen.add(id)
      await tryTo(async () => {
        const connected = await isConnected(client, list, lists, place)
        servers.push(...(await serversOf(client, connected, list, place)))
      })
    }
  }
  return { servers, unread }
}
