import { statSync } from 'node:fs'
import type { SqliteConnection } from './adapter.ts'

const fingerprint = (file: string): string => {
  const stat = statSync(file, { bigint: true, throwIfNoEntry: false })
  return stat ? `${stat.dev}:${stat.ino}:${stat.size}:${stat.ctimeNs}` : 'none'
}

/**
 * Whether anybody but us changed the database: another connection by its commits, anybody at all by the
 * size and ctime of the files. Each write of ours looks before it begins, because afterwards its own
 * traces would cover foreign ones.
 *
 * @NOTE Stats go by path. Opening the database file here and closing it again would drop the locks that
 * SQLite holds on it: POSIX locks belong to the process, not to the descriptor. What is left open is an edit in the
 * same tick of the kernel's clock as a write of ours, right after it (4 ms before Linux 6.13, nothing
 * since): the next full verification finds that one.
 */
export class FileWatch {
  readonly #writer: SqliteConnection
  readonly #paths: readonly [string, string]
  #files: readonly [string, string]
  #versions: string
  #foreign = false

  constructor(writer: SqliteConnection) {
    this.#writer = writer
    this.#paths = [writer.file, `${writer.file}-wal`]
    this.#files = this.#look()
    this.#versions = this.#readVersions()
  }

  /** Before a write of ours. */
  beforeWrite(): void {
    const [main, wal] = this.#look()
    if (main !== this.#files[0] || wal !== this.#files[1]) this.#foreign = true
  }

  /** After a write of ours, whether it went well or not. */
  afterWrite(): void {
    this.#files = this.#look()
  }

  /** After a write by another connection of ours; `foreign`: what that connection noticed. */
  afterWriteElsewhere(foreign: boolean): void {
    this.#foreign ||= foreign
    this.#files = this.#look()
    this.#versions = this.#readVersions()
  }

  /** Whether anybody else changed anything since the last call. */
  takeForeign(): boolean {
    this.beforeWrite()
    const versions = this.#readVersions()
    const foreign = this.#foreign || versions !== this.#versions
    this.#foreign = false
    this.#versions = versions
    this.#files = this.#look()
    return foreign
  }

  #look(): readonly [string, string] {
    return [fingerprint(this.#paths[0]), fingerprint(this.#paths[1])]
  }

  /** On the writer, `data_version` moves with other connections' commits only. */
  #readVersions(): string {
    return `${this.#writer.value('pragma data_version')}:${this.#writer.value('pragma schema_version')}`
  }
}
