import { cpSync, existsSync, mkdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { BackupParts } from './backup/create-backups.ts'
import type { Settings } from './config/settings.ts'
import { indexFolder } from './log/entry-index/block-files.ts'
import { LogReader, segmentsFolder } from './log/log-files.ts'
import { recordRestAtStart } from './log/record-groups.ts'
import {
  gateFolders,
  gatesFolder,
  IdleLogs,
  logFolder,
  otherFolders,
  SiblingLogs,
} from './log/sibling-logs.ts'
import { nodeName, writePid } from './platform/data-directory.ts'
import type { Disposal } from './platform/disposal.ts'
import type { Gates } from './ports/gates.ts'
import type { Storage } from './ports/storage.ts'
import { lockDataDirectory } from './storage/sqlite/lock.ts'

/**
 * Copies the log of a gate process that is no more, or is down. Its index is made anew. Segments come last: one that starts
 * meanwhile adds to them first, and what says how far they reach must not say more.
 */
const copyIdleLog = (from: string, into: string): void => {
  const beside = (source: string): boolean =>
    ![indexFolder, segmentsFolder].includes(basename(source))
  cpSync(from, into, { recursive: true, filter: beside })
  const segments = join(from, segmentsFolder)
  if (existsSync(segments)) cpSync(segments, join(into, segmentsFolder), { recursive: true })
}

type NodeData = {
  /** Takes the data directory for this process, and returns the id that its store must have. */
  readonly enter: () => Promise<string | null>
  /** The same for a process that the one which has the data directory started. */
  readonly recorded: () => string | null
}

/** Place of this process in the data directory of its node, beside the other gate processes. */
export class GatePlace {
  readonly #dataDir: string
  readonly #gates: Gates | null
  /** Whether it is the one that speaks for the node. */
  readonly isFirst: boolean
  /** Folder of this process alone; that of the node where it is the first. */
  readonly folder: string

  constructor(dataDir: string, gates: Gates | null) {
    this.#dataDir = dataDir
    this.#gates = gates
    this.isFirst = gates === null || gates.index === 0
    this.folder = this.isFirst ? dataDir : join(dataDir, gatesFolder, String(gates?.index))
  }

  /** Takes the folder of this process, and returns the id that the store of the node must have. */
  async enter(opening: Disposal, node: NodeData): Promise<string | null> {
    if (this.isFirst) return node.enter()
    mkdirSync(this.folder, { recursive: true, mode: 0o700 })
    // Nobody is named, so that it waits: only the process that had this place before can be there still, and it ends
    // once it sees that its service did.
    opening.use(lockDataDirectory(this.folder, () => null))
    writePid(this.folder)
    return node.recorded()
  }

  /** Begins a life of the node, which its first process does. */
  async begin(storage: Storage, wallMs: number, record: () => void): Promise<void> {
    if (!this.isFirst) return
    record()
    if (!storage.isNetworked) await storage.sessions.endAll(wallMs)
  }

  /** Lets the first process have copies of what lies in this one's folder. */
  answer(auditLog: { copyTo(folder: string): void }): void {
    this.#gates?.answer('copy log', async (folder) => {
      auditLog.copyTo(folder)
      return null
    })
  }

  /** The logs of the others. */
  siblings() {
    return {
      all: new SiblingLogs(() => otherFolders(this.#dataDir, this.folder)),
      idle: new IdleLogs(() => (this.isFirst ? this.#idle() : [])),
      isFirst: this.isFirst,
    }
  }

  /** File for a second copy of the checkpoints: each process signs those of its own log. */
  checkpointCopy({ 'audit.checkpoint_copy': file }: Settings): string | null {
    return file === null || this.isFirst ? file : `${file}.${this.#gates?.index}`
  }

  /** Records the last groups of gate processes that are no more; those that serve do so themselves. */
  async recordIdle(storage: Storage): Promise<void> {
    if (!this.isFirst) return
    for (const folder of this.#idle()) {
      const files = new LogReader(join(folder, logFolder))
      await recordRestAtStart({ storage, files, chain: nodeName(folder) }, files.end)
    }
  }

  /** Folders of the others for a backup; those that serve copy their logs themselves. */
  readonly toCopy: BackupParts['gates'] = () =>
    gateFolders(this.#dataDir).map((folder) => {
      const index = Number(basename(folder))
      return {
        path: join(gatesFolder, basename(folder)),
        copyLog: async (into) => {
          const gates = this.#gates
          if (gates && index < gates.count && gates.serves(index))
            await gates.ask(index, 'copy log', into)
          else copyIdleLog(join(folder, logFolder), into)
        },
      }
    })

  /** Folders of gate processes that are no more: there were more workers once. */
  #idle(): readonly string[] {
    const count = this.#gates?.count ?? 1
    return gateFolders(this.#dataDir).filter((folder) => Number(basename(folder)) >= count)
  }
}
