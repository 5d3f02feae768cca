import fs from 'node:fs'
import path from 'node:path'
import type { ChainKey, ChainRemoval, OtherChains, ReadableChains } from '../ports/audit-rows.ts'
import { checkpointsFile } from './checkpoints.ts'
import { readEnd, readIfThere } from './files.ts'
import { parsePublicKey, publicKeyFile } from './keys.ts'
import { fingerprint, LogReader } from './log-files.ts'
import { readCheckpoints } from './note.ts'
import { readStart, removalsFile } from './removals.ts'

/** The folder of a data directory that has one for each gate process beside the first. */
export const gatesFolder = 'gates'

/** The folder of a process that has its log. */
export const logFolder = 'audit'

/** The folders of all gate processes that a node ever had beside its first, in their order. */
export const gateFolders = (dataDir: string): readonly string[] => {
  const folder = path.join(dataDir, gatesFolder)
  let names: string[]
  try {
    names = fs.readdirSync(folder)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
  return names
    .filter((name) => /^\d+$/.test(name))
    .toSorted((a, b) => Number(a) - Number(b))
    .map((name) => path.join(folder, name))
}

/** The folders of all of them but this one. */
export const otherFolders = (dataDir: string, own: string): readonly string[] =>
  [dataDir, ...gateFolders(dataDir)].filter((folder) => folder !== own)

/** A log that another process writes, as far as it is written. */
class GrowingLog extends LogReader {
  #chain: string | null = null

  /** Name of the chain; null while the log has no entry. */
  get chain(): string | null {
    return (this.#chain ??= this.segments[0]?.header?.chain ?? null)
  }

  /** Sees what was appended before this was called. */
  refresh(): void {
    const known = new Map(this.segments.map((segment) => [segment.file, segment]))
    // Listed before the last one is read again: where there is a next one, that one is complete.
    const listed = this.list()
    this.segments.at(-1)?.grow()
    this.segments = listed.map((segment) => known.get(segment.file) ?? segment)
  }
}

type Place = { readonly folder: string; readonly log: GrowingLog }

type Removals = readonly ChainRemoval[]

/** Bytes at the end of a file of checkpoints: far more than one takes, and no more to read after years. */
const newestBytes = 8_192

/** The newest checkpoint that the process of a folder signed; null where there is none. */
const lastCheckpointIn = (folder: string, chain: string): string | null => {
  const [key] = keyIn(folder, chain)
  const end = readEnd(path.join(folder, logFolder, checkpointsFile), newestBytes)
  if (!key || end === null) return null
  const signed = readCheckpoints(end.toString('utf8'), parsePublicKey(key.public_key, folder))
  return signed.at(-1)?.note ?? null
}

/** The key of a chain, as the process of a folder wrote it beside its log; none where there is no such file. */
const keyIn = (folder: string, chain: string): readonly ChainKey[] => {
  const public_key = readIfThere(path.join(folder, logFolder, publicKeyFile))?.toString('utf8')
  return public_key === undefined ? [] : [{ chain, public_key }]
}

/** Statement that the process of a folder signed of entries that retention took out of its log; none where it took none. */
export const removalIn = (folder: string, chain: string): Removals => {
  const directory = path.join(folder, logFolder)
  const file = path.join(directory, publicKeyFile)
  const [key] = keyIn(folder, chain)
  if (!key) return []
  const { public_key } = key
  const { signed } = readStart(directory, parsePublicKey(public_key, file), chain)
  return signed ? [{ chain, ...signed, public_key }] : []
}

/**
 * Logs of the other gate processes of this node, read from their files while those are written: what was answered is in
 * them. Each process watches its own files; here entries are compared with their hashes when they are shown.
 */
export class SiblingLogs implements ReadableChains {
  readonly #folders: () => readonly string[]
  readonly #logs = new Map<string, GrowingLog>()
  /** Folders of the chains that were found, so that nobody looks through all logs for one. */
  readonly #places = new Map<string, string>()
  /** Statements by their chains, each with how its files were: signatures are checked once. */
  readonly #removals = new Map<string, { readonly print: string; readonly found: Removals }>()

  /** `folders`: of the processes whose logs they are, as they are when it is asked. */
  constructor(folders: () => readonly string[]) {
    this.#folders = folders
  }

  async read(chain: string, from: number, limit: number) {
    const log = this.#find(chain)?.log
    const found: { readonly seq: number; readonly hash: string; readonly body: string }[] = []
    for (const group of log?.entries(from) ?? [])
      for (const { seq, hash, body } of group) {
        if (found.length === limit) return found
        found.push({ seq, hash, body })
      }
    return found
  }

  async ends() {
    return this.#refreshed().flatMap(({ log: { chain, end } }) =>
      chain === null || end === 0 ? [] : [{ chain, next: end }],
    )
  }

  async removals() {
    return this.#ofEach((folder, chain) => this.#removalIn(folder, chain))
  }

  async keys() {
    return this.#ofEach(keyIn)
  }

  async checkpoint(chain: string) {
    const place = this.#find(chain)
    return place ? lastCheckpointIn(place.folder, chain) : null
  }

  /** The first process alone makes roots, and nobody else looks at them. */
  async roots() {
    return []
  }

  #ofEach<T>(find: (folder: string, chain: string) => readonly T[]): readonly T[] {
    return this.#refreshed().flatMap(({ folder, log: { chain } }) =>
      chain === null ? [] : find(folder, chain),
    )
  }

  #removalIn(folder: string, chain: string): Removals {
    const files = [removalsFile, publicKeyFile].map((name) => path.join(folder, logFolder, name))
    const print = files.map(fingerprint).join(' ')
    const known = this.#removals.get(chain)
    if (known?.print === print) return known.found
    const found = removalIn(folder, chain)
    this.#removals.set(chain, { print, found })
    return found
  }

  /** Reads everything anew from now on. */
  protected forget(): void {
    this.#logs.clear()
    this.#places.clear()
  }

  /** The log of a chain as it is by now. Only for one that was not seen yet all are looked at. */
  #find(chain: string): Place | undefined {
    const folder = this.#places.get(chain)
    return folder === undefined
      ? this.#refreshed().find(({ log }) => log.chain === chain)
      : this.#refresh(folder)
  }

  #refreshed(): readonly Place[] {
    return this.#folders().map((folder) => this.#refresh(folder))
  }

  #refresh(folder: string): Place {
    const log = this.#logs.get(folder) ?? new GrowingLog(path.join(folder, logFolder))
    this.#logs.set(folder, log)
    log.refresh()
    const { chain } = log
    if (chain !== null && !this.#places.has(chain)) this.#places.set(chain, folder)
    return { folder, log }
  }
}

/** Logs of gate processes that are no more: nobody writes them, so whatever changes in their files was somebody else. */
export class IdleLogs extends SiblingLogs implements OtherChains {
  readonly #idle: () => readonly string[]
  #seen: string | null = null

  constructor(folders: () => readonly string[]) {
    super(folders)
    this.#idle = folders
  }

  async takeForeign(): Promise<boolean> {
    const now = this.#idle().map(printOf).join('\n')
    const isForeign = this.#seen !== null && this.#seen !== now
    this.#seen = now
    if (isForeign) this.forget()
    return isForeign
  }
}

/** Fingerprints of the segments of a log. */
const printOf = (folder: string): string =>
  new LogReader(path.join(folder, logFolder)).files
    .map((file) => `${file} ${fingerprint(file)}`)
    .join('\n')
