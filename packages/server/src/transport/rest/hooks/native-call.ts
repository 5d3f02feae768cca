import { posix } from 'node:path'
import { readShell } from './read-shell.ts'

type Given = Readonly<Record<string, unknown>>

/** A use of a client's own tool, told alike for every client. */
export type Use = {
  readonly tool: string
  readonly tool_use_id: string | null
  /** Absolute; the folder that the client works in. */
  readonly folder: string
  readonly given: Given
  /** Of a tool of an MCP server. */
  readonly server?: string
}

export type NativeCall = {
  readonly capability: string
  readonly arguments: Given
}

/** A use that lacks what its tool needs is told by the name of the field. */
export class BadUse extends Error {}

export const textIn = (given: Given, ...names: readonly string[]): string => {
  for (const name of names) {
    const value = given[name]
    if (typeof value === 'string' && value !== '') return value
  }
  throw new BadUse(`${names.join(' or ')}: expected a text`)
}

const optionalText = (given: Given, ...names: readonly string[]): string | null => {
  for (const name of names) if (typeof given[name] === 'string') return given[name]
  return null
}

/** The file that it names. Clients pass on what they do not know, so two names have to agree. */
const pathIn = ({ given, folder }: Use, ...names: readonly string[]): string => {
  const path = textIn(given, ...names)
  const other = names.find((name) => (optionalText(given, name) ?? path) !== path)
  if (other !== undefined) throw new BadUse(`${other}: names another file than the use does`)
  return posix.resolve(folder, path)
}

const folderNames = [
  ...['cwd', 'dir_path', 'directory', 'path', 'target_directory', 'workdir', 'working_directory'],
]

/**
 * The folder of the use, by the names that this client reads.
 *
 * @SECURITY Another name would tell policy of a folder that the client knows nothing of, or hide the one that it uses;
 * client-tools.test.ts, "a folder by a name".
 */
const placeIn = ({ given, folder }: Use, own: readonly string[]): string => {
  const foreign = folderNames.find((name) => !own.includes(name) && name in given)
  if (foreign !== undefined) throw new BadUse(`${foreign}: this tool takes no such folder`)
  const [place = '.', ...others] = own.flatMap((name) => optionalText(given, name) || [])
  if (others.some((other) => other !== place))
    throw new BadUse(`${own.join(' and ')}: expected one folder`)
  return posix.resolve(folder, place)
}

export type Mapping = (use: Use) => NativeCall

const shellNames = /^(?:.*\/)?(?:ba|z|da|k)?sh$/
const scriptFlag = /^-[a-z]*c$/

/** A shell line, or the words of a program, of which a shell with `-c` is a line again. */
export const shell =
  (...folders: readonly string[]): Mapping =>
  (use) => {
    const { tool, given } = use
    const working_directory = placeIn(use, folders)
    const { command } = given
    if (Array.isArray(command) && command.every((word) => typeof word === 'string')) {
      const [program = '', flag = '', line] = command as string[]
      if (shellNames.test(program) && scriptFlag.test(flag) && line && command.length === 3)
        return lineCall(tool, line, working_directory)
      return programCall(tool, command as string[], working_directory)
    }
    return lineCall(tool, textIn(given, 'command'), working_directory)
  }

const programCall = (
  tool: string,
  words: readonly string[],
  working_directory: string,
): NativeCall => {
  const [command = '', ...args] = words
  const part = { command, args, environment: {}, working_directory, reads: [], writes: [] }
  const line = JSON.stringify(words)
  return {
    capability: 'client.shell',
    arguments: { tool, command: line, working_directory, parts: [part], unclear: null },
  }
}

const lineCall = (tool: string, command: string, working_directory: string): NativeCall => ({
  capability: 'client.shell',
  arguments: { tool, command, working_directory, ...readShell(command, working_directory) },
})

export const read: Mapping = (use) => ({
  capability: 'client.read',
  arguments: {
    tool: use.tool,
    path: pathIn(use, 'file_path', 'absolute_path', 'path', 'target_file', 'notebook_path'),
  },
})

export const write: Mapping = (use) => ({
  capability: 'client.write',
  arguments: {
    tool: use.tool,
    path: pathIn(use, 'file_path', 'path', 'target_file'),
    content: optionalText(use.given, 'content', 'contents', 'file_text') ?? '',
  },
})

const editOf = (given: Given) => ({
  from: optionalText(given, 'old_string', 'old_str') ?? '',
  to: optionalText(given, 'new_string', 'new_str', 'new_source') ?? '',
  all: given['replace_all'] === true || given['allow_multiple'] === true,
})

export const edit: Mapping = (use) => {
  const { edits } = use.given
  const all = Array.isArray(edits) ? (edits as Given[]) : [use.given]
  return {
    capability: 'client.edit',
    arguments: {
      tool: use.tool,
      path: pathIn(use, 'file_path', 'notebook_path', 'path', 'target_file'),
      edits: all.map(editOf),
    },
  }
}

const magic = /[*?[\]{}()!+@]/

/** The folder below which a pattern for names looks: that of the use, unless the pattern leads elsewhere. */
const below = (place: string, pattern: string): string => {
  const words = pattern.split('/')
  const at = words.findIndex((word) => magic.test(word))
  const plain = at === -1 ? words.slice(0, -1) : words.slice(0, at)
  if (words.slice(plain.length).some((word) => word.includes('..')))
    throw new BadUse('pattern: leads to a folder above by ..')
  return pattern.startsWith('/') || plain.includes('..')
    ? posix.resolve(place, plain.join('/') || '/')
    : place
}

const searching =
  (of: 'names' | 'contents') =>
  (...folders: readonly string[]): Mapping =>
  (use) => {
    const pattern = optionalText(use.given, 'pattern', 'glob_pattern', 'query') ?? ''
    const place = placeIn(use, folders)
    const path = of === 'names' ? below(place, pattern) : place
    return { capability: 'client.search', arguments: { tool: use.tool, path, pattern, of } }
  }
export const searchNames = searching('names')
export const searchContents = searching('contents')

export const fetch: Mapping = ({ tool, given }) => ({
  capability: 'client.fetch',
  arguments: { tool, url: textIn(given, 'url') },
})

export const plan: Mapping = ({ tool }) => ({ capability: 'client.plan', arguments: { tool } })

export const other: Mapping = ({ tool, given }) => ({
  capability: 'client.tool',
  arguments: { tool, arguments: given },
})

/** The gate itself asks about its own tools, so they are not asked about twice. */
const ownServer = 'gatehouse'

export const ofServer: Mapping = (use) => {
  const { tool, server = '', given } = use
  if (server.toLowerCase() === ownServer) return plan(use)
  return { capability: 'client.mcp_tool', arguments: { server, tool, arguments: given } }
}

const changed = /^\*\*\* (Add|Update|Delete) File: (.+)$|^\*\*\* Move to: (.+)$/i

/** Files that a patch of Codex names. */
export const patch: Mapping = ({ tool, given, folder }) => {
  const text = textIn(given, 'command', 'input', 'patch')
  const paths: string[] = []
  const deletes: string[] = []
  for (const line of text.split('\n')) {
    // @SECURITY Codex takes a name with blanks around it, too; client-tools.test.ts, "its own tools are known".
    const [, kind, path, moved] = changed.exec(line.trim()) ?? []
    const named = path ?? moved
    if (named === undefined) continue
    ;(kind?.toLowerCase() === 'delete' ? deletes : paths).push(posix.resolve(folder, named.trim()))
  }
  if (paths.length + deletes.length === 0) throw new BadUse('command: no patch that names a file')
  return { capability: 'client.patch', arguments: { tool, patch: text, paths, deletes } }
}
