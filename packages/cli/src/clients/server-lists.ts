import type { ClientSpec, Place, Scope } from './client.ts'
import { readConfigFile, textOf } from './config-file.ts'
import {
  isMembers,
  type List,
  loadFormat,
  type Members,
  readServers,
  readText,
} from './config-format.ts'

/** A list of servers in a configuration. */
export type ServerList = {
  /** `local` is for one folder, in the configuration of the person. */
  readonly scope: Scope | 'local'
  /** Folder of the project. */
  readonly folder: string
  readonly file: string
  readonly text: string
  readonly list: List
  readonly entries: Members
}

/** Lists of servers in the configuration of the person, or of the project; none where there is no file. */
export async function readServerLists(
  client: ClientSpec,
  scope: Scope,
  place: Place,
): Promise<readonly ServerList[]> {
  const name = client.files[scope]?.(place)
  const found = name === undefined ? null : await readConfigFile(name, 0o600)
  if (found === null || found.bytes === null) return []
  const { path: file } = found
  const text = textOf(found)
  const format = await loadFormat(client.format)
  const { key, folders } = client
  const read = (list: List) => readServers(format, file, text, list)
  const own = { scope, folder: place.folder, file, text, list: [key], entries: read([key]) }
  if (scope === 'project' || folders === undefined) return [own]
  const byFolder = readText(format, file, text)[folders]
  const local = Object.entries(isMembers(byFolder) ? byFolder : {}).flatMap(([folder, value]) => {
    const entries = isMembers(value) ? value[key] : undefined
    if (!isMembers(entries)) return []
    return [{ scope: 'local' as const, folder, file, text, list: [folders, folder, key], entries }]
  })
  return [own, ...local]
}
