import { access, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { type ClientSpec, entryName, homeOf, type Place, scopes } from './client.ts'
import { isMembers } from './config-format.ts'
import { type HooksFound, inspectHooks } from './inspect-hooks.ts'
import { readServerLists, type ServerList } from './server-lists.ts'

export type Inspected = {
  /** Whether one of its entries starts the bridge, or reaches the gateway under our name. */
  readonly connected: boolean
  /** Token files of those entries that are not there. */
  readonly missing: readonly string[]
  /** Names of its other servers; one of a single folder with the folder. */
  readonly others: readonly string[]
  /** Null where the client has none. */
  readonly hooks: HooksFound | null
}

const isThere = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  )

const argsOf = (entry: unknown): readonly unknown[] =>
  isMembers(entry) && Array.isArray(entry['args']) ? (entry['args'] as unknown[]) : []

const tokenFileOf = (entry: unknown): string | null => {
  const args = argsOf(entry)
  const at = args.indexOf('--token-file')
  const file = at < 0 || !args.includes('mcp') ? undefined : args[at + 1]
  return typeof file === 'string' ? file : null
}

/** Whether an entry starts the bridge, or reaches the gateway under our name. */
export const isGate = (name: string, entry: unknown): boolean =>
  name === entryName || tokenFileOf(entry) !== null

const isOff = (entry: unknown): boolean =>
  isMembers(entry) && (entry['disabled'] === true || entry['enabled'] === false)

type Server = Pick<ServerList, 'scope' | 'folder'> & {
  readonly name: string
  readonly entry: unknown
}

/** Servers of the person, and of the project in the folder; those of single folders with the folder. */
async function serversOf(client: ClientSpec, place: Place): Promise<readonly Server[]> {
  const lists: ServerList[] = []
  for (const scope of scopes) lists.push(...(await readServerLists(client, scope, place)))
  const entriesOf = ({ scope, folder, entries }: ServerList) =>
    Object.entries(entries).map(([name, entry]) => ({ scope, folder, name, entry }))
  return lists.flatMap(entriesOf).filter(({ entry }) => !isOff(entry))
}

/** Findings in the configuration of a client; null where the client is not on this machine. */
export async function inspectClient(client: ClientSpec, place: Place): Promise<Inspected | null> {
  const file = client.files.user(place)
  const folder = dirname(file)
  // A folder of its own tells of a client that was never configured; the home folder tells nothing.
  const isFound = (await isThere(file)) || (folder !== homeOf(place) && (await isThere(folder)))
  if (!isFound) return null
  const servers = await serversOf(client, place)
  const gates = servers.filter(
    ({ scope, folder, name, entry }) =>
      isGate(name, entry) && (scope !== 'local' || folder === place.folder),
  )
  const tokens = gates.map(({ entry }) => tokenFileOf(entry)).filter((path) => path !== null)
  const missing: string[] = []
  for (const path of tokens) if (!(await stat(path).catch(() => null))) missing.push(path)
  const others = servers
    .filter(({ name, entry }) => !isGate(name, entry))
    .map(({ scope, folder, name }) => (scope === 'local' ? `${name} (in ${folder})` : name))
  const hooks = await inspectHooks(client, place)
  return { connected: gates.length > 0, missing, others: [...new Set(others)], hooks }
}
