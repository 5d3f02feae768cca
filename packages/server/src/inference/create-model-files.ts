import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { freemem } from 'node:os'
import { GatehouseError } from '@gatehouse/contract'
import type { Mirrors } from '../domain/models/mirror.ts'
import type { ModelFiles } from '../ports/models.ts'
import type { Outbound } from '../ports/outbound.ts'
import { download } from './download.ts'
import { HeaderNotAccepted } from './header-watch.ts'
import { inspect } from './inspect.ts'
import { ModelFolder } from './model-folder.ts'
import { readFileHeader } from './read-file-header.ts'

export type ModelFilesOptions = {
  readonly folder: string
  readonly outbound: Outbound
  readonly mirrors: Mirrors
  readonly stallMs?: number
}

const readBytes = 1024 * 1024

/** Memory that programs may still take, as Linux says; elsewhere what nobody has taken. */
async function availableMemory(): Promise<number> {
  const text = await readFile('/proc/meminfo', 'utf8').catch(() => '')
  const kibibytes = /^MemAvailable:\s+(\d+) kB$/m.exec(text)?.[1]
  return kibibytes === undefined ? freemem() : Number(kibibytes) * 1024
}

/** The files of models in one folder. */
export const createModelFiles = (options: ModelFilesOptions): ModelFiles => {
  const folder = new ModelFolder(options.folder)
  const { outbound, mirrors, stallMs = 30_000 } = options
  const deps = { folder, outbound, mirrors, stallMs }
  return {
    pathOf: (sha256) => folder.pathOf(sha256),
    holds: async ({ sha256, size_bytes }) => (await folder.sizeOf(sha256)) === size_bytes,
    partialBytes: (sha256) => folder.partialBytes(sha256),
    freeBytes: () => folder.freeBytes(),
    availableMemory,
    fetch: (file, report, signal) => download(deps, file, report, signal),
    inspect: (file, signal) => inspect(deps, file, signal),

    async hash(sha256, signal, report) {
      const handle = await folder.openFile(sha256)
      if (!handle) return null
      try {
        const hash = createHash('sha256')
        const buffer = Buffer.allocUnsafe(readBytes)
        let size_bytes = 0
        for (;;) {
          signal.throwIfAborted()
          const { bytesRead } = await handle.read(buffer, 0, readBytes, size_bytes)
          if (bytesRead === 0) return { sha256: hash.digest('hex'), size_bytes }
          hash.update(buffer.subarray(0, bytesRead))
          size_bytes += bytesRead
          report?.(size_bytes)
        }
      } finally {
        await handle.close()
      }
    },

    async header({ id, sha256, size_bytes }) {
      const handle = await folder.openFile(sha256)
      if (!handle) throw new GatehouseError('ModelNotInstalled', { id, detail: 'its file is gone' })
      try {
        return await readFileHeader(handle, size_bytes)
      } catch (cause) {
        if (!(cause instanceof HeaderNotAccepted)) throw cause
        throw new GatehouseError('ModelHeaderRefused', { id, detail: cause.message })
      } finally {
        await handle.close()
      }
    },

    reject: (sha256) => folder.rejectFile(sha256),
    remove: (sha256) => folder.remove(sha256),
  }
}
