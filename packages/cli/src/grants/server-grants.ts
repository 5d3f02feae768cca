import { existsSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, sep } from 'node:path'
import { isLikelySecret } from '@gatehouse/contract/likely-secret'
import type { Definition } from '../imports/definition.ts'

/** Registries that programs which fetch others ask. */
const npm = ['registry.npmjs.org:443']
const pypi = ['pypi.org:443', 'files.pythonhosted.org:443']
const fetching: Readonly<Record<string, readonly string[]>> = {
  npx: npm,
  bunx: npm,
  uvx: pypi,
  pipx: pypi,
}
const fetchingBy: Readonly<
  Record<string, readonly [verbs: readonly string[], hosts: readonly string[]]>
> = {
  npm: [['exec', 'x'], npm],
  pnpm: [['dlx'], npm],
  yarn: [['dlx'], npm],
  bun: [['x'], npm],
  uv: [['tool', 'run'], pypi],
}

/** Hosts that the command of a server needs to be started. */
export function hostsOf({ server }: Definition): readonly string[] {
  if (server.kind === 'http') return []
  const program = basename(server.command)
  const [verbs, hosts] = fetchingBy[program] ?? [[], []]
  return fetching[program] ?? (verbs.includes(server.args[0] ?? '') ? hosts : [])
}

/** Folders that every program in the sandbox sees anyway. */
const ofTheSystem = /^\/(?:usr|bin|sbin|lib|lib32|lib64)(?:\/|$)/

/** The nearest folder above a program that holds all it needs, as far as its package tells. */
function packageOf(file: string): string {
  const parts = file.split(sep)
  const installed = parts.indexOf('node_modules')
  if (installed > 0) return parts.slice(0, installed + 1).join(sep)
  for (let folder = dirname(file); folder !== dirname(folder); folder = dirname(folder))
    if (['package.json', 'pyproject.toml'].some((name) => existsSync(join(folder, name))))
      return folder
  return dirname(file)
}

const isProgram = (path: string): boolean => /\.(?:[cm]?[jt]s|py|rb|php|jar|sh)$/.test(path)

/** The folder to see what a path names; null where there is nothing. */
function folderFor(path: string): string | null {
  const found = statSync(path, { throwIfNoEntry: false })
  if (found?.isDirectory()) return realpathSync(path)
  if (found) return isProgram(path) ? packageOf(realpathSync(path)) : realpathSync(dirname(path))
  // A file that the server makes itself.
  const above = dirname(path)
  return statSync(above, { throwIfNoEntry: false })?.isDirectory() ? realpathSync(above) : null
}

export const isWithin = (path: string, folder: string): boolean =>
  path === folder || path.startsWith(folder.endsWith(sep) ? folder : `${folder}${sep}`)

const pathsOf = ({ server, values }: Definition): readonly string[] => {
  if (server.kind === 'http') return []
  const args = server.args.map((arg) => arg.replace(/^-{1,2}[\w-]+=(?=\/)/, ''))
  const variables = Object.entries(values)
    .filter(([name, value]) => name !== 'PATH' && !isLikelySecret(name, value))
    .map(([, value]) => value)
  const program = isProgram(server.command) ? [server.command] : []
  return [...program, ...args, ...variables].filter(
    (text) => isAbsolute(text) && !text.includes('\n'),
  )
}

/** Folders that the arguments and variables of a server name, the widest first, none within another. */
export function foldersOf(definition: Definition): readonly string[] {
  const folders = pathsOf(definition)
    .map(folderFor)
    .filter((folder): folder is string => folder !== null && !ofTheSystem.test(folder))
    .toSorted((a, b) => a.length - b.length)
  return folders.filter(
    (folder, at) => !folders.slice(0, at).some((wider) => isWithin(folder, wider)),
  )
}

/**
 * Whether a folder holds what no server is to see because it was named in passing: everything, a whole home, or the data
 * of Gatehouse.
 * @SECURITY `import` offers no such folder; server-grants.test.ts.
 */
export function isTooWide(folder: string, home: string, dataDir: string): boolean {
  const [own = home, data = dataDir] = [home, dataDir].map((path) =>
    existsSync(path) ? realpathSync(path) : path,
  )
  return isWithin(own, folder) || isWithin(data, folder) || isWithin(folder, data)
}
