import { hash, timingSafeEqual, webcrypto } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import type { Sealer } from '../keys.ts'
import type { Tally } from './block.ts'

export const indexFolder = 'index'

/** Summary of a block, without its columns. */
export type BlockSummary = {
  readonly chain: string
  readonly first: number
  readonly count: number
  /** The hash of its last entry: a block of another log has another one. */
  readonly head: string
  readonly from: number
  readonly to: number
  /** Null where its entries have to be counted one by one. */
  readonly tallies: readonly Tally[] | null
  /** Intents of its chain that nothing had closed with its last entry: ids and numbers. */
  readonly open: readonly (readonly [id: string, seq: number])[]
}

type Header = { readonly summary: BlockSummary; readonly sha256: string }

const tag = 'gatehouse-index-v2\n'
const macBytes = 32
const nameDigits = 16
const namePattern = /^(.+)-(\d{16})\.columns$/

/**
 * Blocks on the disk, each with a MAC: a changed one is none. They are made of the log and made anew at will, so
 * nothing here is synced.
 */
export class BlockFiles {
  readonly #folder: string
  readonly #sealer: Sealer
  /** One block is written at a time. */
  #writing: Promise<unknown> = Promise.resolve()

  constructor(directory: string, sealer: Sealer) {
    this.#folder = path.join(directory, indexFolder)
    this.#sealer = sealer
  }

  /** Hashed and written beside this thread, on which calls are answered; left out where it is not wanted any more. */
  write(summary: BlockSummary, columns: Buffer, isWanted: () => boolean): Promise<void> {
    const writing = this.#writing
      .catch(() => undefined)
      .then(() => this.#write(summary, columns, isWanted))
    this.#writing = writing
    return writing
  }

  async #write(summary: BlockSummary, columns: Buffer, isWanted: () => boolean): Promise<void> {
    if (!isWanted()) return
    const digest = Buffer.from(await webcrypto.subtle.digest('SHA-256', columns))
    const header: Header = { summary, sha256: digest.toString('hex') }
    const text = JSON.stringify(header)
    const size = Buffer.alloc(4)
    size.writeUInt32LE(Buffer.byteLength(text))
    const file = this.#fileOf(summary)
    await fs.promises.mkdir(this.#folder, { recursive: true, mode: 0o700 })
    const handle = await fs.promises.open(`${file}.new`, 'w', 0o600)
    try {
      await handle.writev([size, Buffer.from(text), this.#sealer.mac(tag + text), columns])
    } finally {
      await handle.close()
    }
    if (isWanted()) fs.renameSync(`${file}.new`, file)
    else fs.rmSync(`${file}.new`, { force: true })
  }

  /** The blocks of a chain, by their first entry. What this service did not write is left out. */
  list(chain: string): BlockSummary[] {
    return this.#of(chain)
      .flatMap(({ file }) => {
        const found = this.#read(file, false)
        return found?.header.summary.chain === chain ? [found.header.summary] : []
      })
      .toSorted((a, b) => a.first - b.first)
  }

  /** The columns of a block; null where they are not as they were written. */
  columns(summary: BlockSummary): Buffer | null {
    const found = this.#read(this.#fileOf(summary), true)
    if (!found || found.header.summary.count !== summary.count) return null
    return hash('sha256', found.columns, 'hex') === found.header.sha256 ? found.columns : null
  }

  /** Removes the blocks of a chain that begin with an entry from one number on and before another. */
  drop(chain: string, from = 0, to = Number.POSITIVE_INFINITY): void {
    for (const { file, first } of this.#of(chain))
      if (first >= from && first < to) fs.rmSync(file, { force: true })
  }

  /** The files of a chain; the name of one chain may begin with that of another. */
  #of(chain: string): { readonly file: string; readonly first: number }[] {
    let names: string[]
    try {
      names = fs.readdirSync(this.#folder)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
      throw error
    }
    return names.flatMap((name) => {
      const [, of, first] = namePattern.exec(name) ?? []
      return of === chain ? [{ file: path.join(this.#folder, name), first: Number(first) }] : []
    })
  }

  #fileOf({ chain, first }: Pick<BlockSummary, 'chain' | 'first'>): string {
    return path.join(this.#folder, `${chain}-${String(first).padStart(nameDigits, '0')}.columns`)
  }

  #read(file: string, whole: boolean): { header: Header; columns: Buffer } | null {
    let fd: number
    try {
      fd = fs.openSync(file, 'r')
    } catch {
      return null
    }
    try {
      const { size } = fs.fstatSync(fd)
      const start = Buffer.alloc(4)
      fs.readSync(fd, start, 0, 4, 0)
      const length = start.readUInt32LE(0)
      if (4 + length + macBytes > size) return null
      const bytes = Buffer.alloc(whole ? size - 4 : length + macBytes)
      fs.readSync(fd, bytes, 0, bytes.length, 4)
      const text = bytes.toString('utf8', 0, length)
      const mac = bytes.subarray(length, length + macBytes)
      // @SECURITY a summary that somebody else wrote could hide entries from every query; entry-index.test.ts.
      if (!timingSafeEqual(mac, this.#sealer.mac(tag + text))) return null
      return { header: JSON.parse(text) as Header, columns: bytes.subarray(length + macBytes) }
    } finally {
      fs.closeSync(fd)
    }
  }
}
