import { randomBytes } from 'node:crypto'
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { GatehouseError } from '@gatehouse/contract'
import type { Workspaces } from '../ports/workspaces.ts'
import { readText } from './data-directory.ts'

/** Says which folder of workspaces this is. No agent is called so. */
export const siteFile = '.gatehouse-site'
const markFile = (node: string): string => `.gatehouse-mark.${node}`

const syncFolder = (folder: string): void => {
  const descriptor = openSync(folder, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

const writeSynced = (file: string, text: string): void => {
  const descriptor = openSync(file, 'wx', 0o600)
  try {
    writeSync(descriptor, text)
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/** Of two nodes that begin a folder at once, both have the id of the one that was first. */
const siteOf = (folder: string): string => {
  const file = join(folder, siteFile)
  const known = readText(file)
  if (known) return known
  const temporary = `${file}.${randomBytes(6).toString('hex')}`
  writeSynced(temporary, `site-${randomBytes(6).toString('hex')}\n`)
  try {
    linkSync(temporary, file)
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw cause
  } finally {
    rmSync(temporary)
  }
  syncFolder(folder)
  return readText(file) ?? ''
}

const unfit = (folder: string, detail: string, cause?: unknown): GatehouseError =>
  new GatehouseError(
    'NodeUnfit',
    { detail: `${folder} does not keep files as it should: ${detail}` },
    {
      recovery: [
        {
          action: 'check the mount',
          description:
            'Mount a file system there that has links, renames a file over another and syncs folders, such as NFS 4.',
        },
      ],
      cause,
    },
  )

/** Writes, syncs and renames as files of agents are written, and reads what came of it. */
const replaceMark = (folder: string, node: string): string => {
  const file = join(folder, markFile(node))
  const mark = randomBytes(12).toString('hex')
  for (const text of ['begun', mark]) {
    const temporary = `${file}.new`
    rmSync(temporary, { force: true })
    writeSynced(temporary, text)
    renameSync(temporary, file)
    syncFolder(folder)
    const found = readText(file)
    if (found !== text) throw unfit(folder, 'a file that was renamed over another one is not found')
  }
  return mark
}

/** No agent has a name with a dot, and no program takes one without a colon for a place on another machine. */
const setAside = (folder: string, agent: string, wallMs: number): string | null => {
  const name = `${agent}.before-${new Date(wallMs).toISOString().replaceAll(':', '')}`
  try {
    renameSync(join(folder, agent), join(folder, name))
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw cause
  }
  syncFolder(folder)
  return name
}

/** Where the folder of workspaces lies: agents see the path of a mount that it is a link to, the same on all nodes. */
export const makeWorkspaces = (folder: string): string => {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  return lstatSync(folder).isSymbolicLink() ? realpathSync(folder) : folder
}

/** Opens the folder of workspaces; on a store that several nodes share it gets an id. */
export const openWorkspaces = (folder: string, isNetworked: boolean): Workspaces => {
  const checked = <T>(work: () => T): T => {
    try {
      return work()
    } catch (cause) {
      if (cause instanceof GatehouseError) throw cause
      throw unfit(folder, (cause as NodeJS.ErrnoException).code ?? 'it fails', cause)
    }
  }
  return {
    path: folder,
    site: isNetworked ? checked(() => siteOf(folder)) : null,
    pathOf: (agent) => join(folder, agent),
    holds: (agent) => existsSync(join(folder, agent)),
    setAside: (agent, wallMs) => setAside(folder, agent, wallMs),
    mark: (node) => checked(() => replaceMark(folder, node)),
    markOf: (node) => readText(join(folder, markFile(node))),
  }
}
