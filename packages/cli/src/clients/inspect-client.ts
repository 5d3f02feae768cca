import { access, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { type ClientSpec, entryName, homeOf, type Place } from './client.ts'
import { readConfigFile, textOf } from './config-file.ts'
import { isMembers, loadFormat, type Members, readServers } from './config-format.ts'
import { type HooksFound, inspectHooks } from './inspect-hooks.ts'

export type Inspected = {
  /** Whether one of its entries starts the bridge, or reaches the gateway under our name. */
  readonly connected: boolean
  /** Token files of those entries that are not there. */
  readonly missing: readonly string[]
  /** Names of its other servers. */
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

/** Servers that are in force in the folder: of the person, and of the project. */
async function serversOf(client: ClientSpec, place: Place): Promise<Members> {
  const { key, files } = client
  const format = await loadFormat(client.format)
  const found: Record<string, unknown> = {}
  for (const name of [files.user(place), files.project?.(place)]) {
    if (name === undefined) continue
    const file = await readConfigFile(name, 0o600)
    if (file.bytes !== null) Object.assign(found, readServers(format, file.path, textOf(file), key))
  }
  return found
}

/** What the configuration of a client says; null where the client is not on this machine. */
export async function inspectClient(client: ClientSpec, place: Place): Promise<Inspected | null> {
  const file = client.files.user(place)
  const folder = dirname(file)
  // A folder of its own tells of a client that was never configured; the home folder tells nothing.
  const isFound = (await isThere(file)) || (folder !== homeOf(place) && (await isThere(folder)))
  if (!isFound) return null
  const servers = Object.entries(await serversOf(client, place)).filter(([, one]) => !isOff(one))
  const gates = servers.filter(([name, entry]) => isGate(name, entry))
  const tokens = gates.map(([, entry]) => tokenFileOf(entry)).filter((path) => path !== null)
  const missing: string[] = []
  for (const path of tokens) if (!(await stat(path).catch(() => null))) missing.push(path)
  const others = servers.filter(([name, entry]) => !isGate(name, entry)).map(([name]) => name)
  const hooks = await inspectHooks(client, place)
  return { connected: gates.length > 0, missing, others, hooks }
}
