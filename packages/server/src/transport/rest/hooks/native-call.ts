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

const pathIn = ({ given, folder }: Use, ...names: readonly string[]): string =>
  posix.resolve(folder, textIn(given, ...names))

export type Mapping = (use: Use) => NativeCall

const shellNames = /^(?:.*\/)?(?:ba|z|da|k)?sh$/
const scriptFlag = /^-[a-z]*c$/

/** A shell line, or the words of a program, of which a shell with `-c` is a line again. */
export const shell: Mapping = (use) => {
  const { tool, given, folder } = use
  const place = optionalText(given, 'working_directory', 'workdir', 'directory', 'cwd')
  const working_directory = posix.resolve(folder, place ?? '.')
  const { command } = given
  if (Array.isArray(command) && command.every((word) => typeof word === 'string')) {
    const [program = '', flag = '', line] = command as string[]
    if (shellNames.test(program) && scriptFlag.test(flag) && line && command.length === 3)
      return lineCall(tool, line, working_directory)
    const [first = '', ...args] = command as string[]
    const part = { command: first, args, environment: {}, working_directory, reads: [], writes: [] }
    const line_ = JSON.stringify(command)
    return {
      capability: 'client.shell',
      arguments: { tool, command: line_, working_directory, parts: [part], unclear: null },
    }
  }
  return lineCall(tool, textIn(given, 'command'), working_directory)
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
  all: given['replace_all'] === true,
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

const searching =
  (of: 'names' | 'contents'): Mapping =>
  (use) => ({
    capability: 'client.search',
    arguments: {
      tool: use.tool,
      path: posix.resolve(
        use.folder,
        optionalText(use.given, 'path', 'dir_path', 'target_directory') || '.',
      ),
      pattern: optionalText(use.given, 'pattern', 'glob_pattern', 'query') ?? '',
      of,
    },
  })
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

const changed = /^\*\*\* (Add|Update|Delete) File: (.+)$|^\*\*\* Move to: (.+)$/

/** Files that a patch of Codex names. */
export const patch: Mapping = ({ tool, given, folder }) => {
  const text = textIn(given, 'command', 'input', 'patch')
  const paths: string[] = []
  const deletes: string[] = []
  for (const line of text.split('\n')) {
    const [, kind, path, moved] = changed.exec(line.trimEnd()) ?? []
    const named = path ?? moved
    if (named === undefined) continue
    ;(kind === 'Delete' ? deletes : paths).push(posix.resolve(folder, named.trim()))
  }
  if (paths.length + deletes.length === 0) throw new BadUse('command: no patch that names a file')
  return { capability: 'client.patch', arguments: { tool, patch: text, paths, deletes } }
}
