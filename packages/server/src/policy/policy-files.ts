import { randomBytes } from 'node:crypto'
import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { AgentName } from '@gatehouse/contract'
import type { FileId } from './parse-file.ts'

export const organisationId: FileId = {
  layer: 'organisation',
  file: 'organisation.yaml',
  agent: null,
}
export const agentId = (agent: string): FileId => ({
  layer: 'agent',
  file: `agents/${agent}.yaml`,
  agent,
})

/** Text on disk, or why there is none to be had. A file that is not there is left out. */
export type FileOnDisk =
  | { readonly kind: 'text'; readonly id: FileId; readonly text: string; readonly stamp: string }
  | {
      readonly kind: 'unreadable'
      readonly id: FileId
      readonly message: string
      readonly stamp: string
    }

export type Snapshot = {
  readonly files: ReadonlyMap<string, FileOnDisk>
  /** Files that look like policy and are in no place where policy is read. */
  readonly strays: readonly string[]
}

const bytesMax = 1_048_576
const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? 'unknown'

const namesIn = async (folder: string): Promise<readonly string[]> => {
  try {
    return (await readdir(folder)).toSorted()
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return []
    throw error
  }
}

const looksLikePolicy = (name: string): boolean => /^[^.].*\.ya?ml$/i.test(name)

const locate = async (
  directory: string,
): Promise<{ readonly ids: readonly FileId[]; readonly strays: readonly string[] }> => {
  const top = (await namesIn(directory)).filter(looksLikePolicy)
  const below = (await namesIn(join(directory, 'agents'))).filter(looksLikePolicy)
  const agentOf = (name: string): string | null => {
    const agent = name.endsWith('.yaml') ? name.slice(0, -'.yaml'.length) : ''
    return AgentName.safeParse(agent).success ? agent : null
  }
  const agents = below.flatMap((name) => agentOf(name) ?? [])
  return {
    // Asked for even when it is not listed: only a look at the file itself can say that it is gone.
    ids: [organisationId, ...agents.map(agentId)],
    strays: [
      ...top.filter((name) => name !== organisationId.file),
      ...below.filter((name) => agentOf(name) === null).map((name) => `agents/${name}`),
    ],
  }
}

const decodeText = (bytes: Uint8Array): string =>
  new TextDecoder('utf-8', { fatal: true }).decode(bytes)

const readOne = async (
  directory: string,
  id: FileId,
  before: FileOnDisk | undefined,
): Promise<FileOnDisk | null> => {
  const path = join(directory, id.file)
  let stamp = ''
  const unreadable = (message: string): FileOnDisk => ({ kind: 'unreadable', id, message, stamp })
  try {
    const { ino, size, mtimeMs, ctimeMs } = await stat(path)
    stamp = `${ino} ${size} ${mtimeMs} ${ctimeMs}`
    if (before?.stamp === stamp) return before
    if (size > bytesMax) return unreadable('the file is over 1 MiB')
    const bytes = await readFile(path)
    return { kind: 'text', id, text: decodeText(bytes), stamp }
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null
    if (error instanceof TypeError) return unreadable('the file is not UTF-8 text')
    return unreadable(`the file cannot be read (${codeOf(error)})`)
  }
}

/** Looks at every policy file; those whose stamp did not change are not read again. */
export const readSnapshot = async (
  directory: string,
  before: Snapshot | null,
): Promise<Snapshot> => {
  const { ids, strays } = await locate(directory)
  const files = new Map<string, FileOnDisk>()
  for (const id of ids) {
    const found = await readOne(directory, id, before?.files.get(id.file))
    if (found) files.set(id.file, found)
  }
  return { files, strays }
}

export const sameFiles = (a: Snapshot, b: Snapshot): boolean =>
  a.files.size === b.files.size &&
  [...a.files].every(([file, { stamp }]) => b.files.get(file)?.stamp === stamp) &&
  a.strays.join('\n') === b.strays.join('\n')

/** Replaces a file whole or not at all: it is on disk, by content and by name, when this returns. */
export const writeWhole = async (path: string, text: string | Uint8Array): Promise<void> => {
  const folder = dirname(path)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const temporary = join(folder, `.${randomBytes(8).toString('hex')}.tmp`)
  try {
    const file = await open(temporary, 'wx', 0o600)
    try {
      await file.writeFile(text)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(temporary, path)
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
  const named = await open(folder, 'r')
  try {
    await named.sync()
  } finally {
    await named.close()
  }
}

const keptPath = (directory: string, file: string): string => join(directory, '.last-good', file)

/** The copy of a file as it was last active, to start from when the file itself is bad by then. */
export const readKept = async (directory: string, file: string): Promise<string | null> => {
  try {
    return decodeText(await readFile(keptPath(directory, file)))
  } catch {
    // Gone or unreadable, there is no last good text, and the caller then denies.
    return null
  }
}

/** The files of which a copy is kept. */
export const keptFiles = async (directory: string): Promise<readonly string[]> => {
  const kept = join(directory, '.last-good')
  const agents = (await namesIn(join(kept, 'agents'))).map((name) => `agents/${name}`)
  return [...(await namesIn(kept)), ...agents].filter((file) => file.endsWith('.yaml'))
}

export const keep = (directory: string, file: string, text: string): Promise<void> =>
  writeWhole(keptPath(directory, file), text)

/**
 * Copies the text of a file that is about to be replaced, so that replacing it can be undone. Answers with
 * the copy's name below the folder; null where there is nothing that another text would replace.
 */
export const keepPrevious = async (
  directory: string,
  file: string,
  replacedBy: string,
): Promise<string | null> => {
  const previous = join('.previous', file)
  let bytes: Uint8Array
  try {
    bytes = await readFile(join(directory, file))
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null
    throw error
  }
  if (Buffer.from(replacedBy).equals(bytes)) return null
  await writeWhole(join(directory, previous), bytes)
  return previous
}

export const forget = (directory: string, file: string): Promise<void> =>
  rm(keptPath(directory, file), { force: true })
