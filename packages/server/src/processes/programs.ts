import { constants, realpathSync, statSync } from 'node:fs'
import { GatehouseError } from '@gatehouse/contract'
import type { ProcessFacts, ProcessSite } from '../ports/processes.ts'
import { contentOf } from './content.ts'

/** Where plain names are looked for. Nobody's environment changes it. */
export const programFolders = ['/usr/local/bin', '/usr/bin', '/bin'] as const
const systemFolders: ReadonlySet<string> = new Set([
  ...programFolders,
  '/usr/sbin',
  '/sbin',
  '/usr/local/sbin',
])

export type Program = ProcessFacts['program'] & {
  /** The path as it was written, for one in the agent's folders. */
  readonly own: string | null
}

const notFound = (program: string): GatehouseError =>
  new GatehouseError('ProgramNotFound', { program })

/** A program of the system by its identity: it changes when the file is replaced or written to. */
const systemProgram = (path: string): Program | null => {
  try {
    const real = realpathSync(path)
    const stat = statSync(real, { bigint: true })
    const anyone = constants.S_IXUSR | constants.S_IXGRP | constants.S_IXOTH
    if (!stat.isFile() || (Number(stat.mode) & anyone) === 0) return null
    const identity = [real, stat.dev, stat.ino, stat.size, stat.mtimeNs, stat.ctimeNs].join(':')
    return { path, identity, own: null }
  } catch {
    return null
  }
}

const ownProgram = async (site: ProcessSite, path: string, shown: string): Promise<Program> => {
  const { files } = site
  const { sha256, at } = await contentOf(files, path).catch((error: unknown) => {
    if (error instanceof GatehouseError && error.type === 'FileNotFound') throw notFound(shown)
    throw error
  })
  const mode = Number.parseInt((await files.stat(at))?.permissions ?? '0', 8)
  if ((mode & 0o111) === 0)
    throw new GatehouseError('NotExecutable', { path: shown, detail: 'its mode does not allow it' })
  return { path: at, identity: `sha256:${sha256}`, own: path }
}

/**
 * A plain name is one of the system, looked for on the fixed PATH; a name with a slash lies in the agent's
 * folders, or says which folder of the system.
 */
export const findProgram = async (
  site: ProcessSite,
  command: string,
  workingDirectory: string,
): Promise<Program> => {
  // @SECURITY Windows runs these by a shell, whatever is asked for (CVE-2024-27980; integration/process.test.ts).
  if (/\.(?:bat|cmd)[. ]*$/i.test(command))
    throw new GatehouseError('NotExecutable', {
      path: command,
      detail: 'it would be run by a shell',
    })
  if (!command.includes('/')) {
    for (const folder of programFolders) {
      const found =
        command === '.' || command === '..' ? null : systemProgram(`${folder}/${command}`)
      if (found) return found
    }
    throw notFound(command)
  }
  if (systemFolders.has(command.slice(0, command.lastIndexOf('/')))) {
    const found = systemProgram(command)
    if (found) return found
    throw notFound(command)
  }
  const path = command.startsWith('/') ? command : `${workingDirectory}/${command}`
  return ownProgram(site, path, command)
}
