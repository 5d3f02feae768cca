import { constants } from 'node:fs'
import { type FileHandle, lstat, mkdir, open, rename, rm, statfs } from 'node:fs/promises'
import { join } from 'node:path'

/** Space that must stay free for the database and the log, which everything else waits for. */
const reservedBytes = 256 * 1024 * 1024

const { O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_RDWR } = constants

const sizeOf = async (path: string): Promise<number | null> => {
  const found = await lstat(path).catch(() => null)
  return found?.isFile() ? found.size : null
}

/**
 * The folder of models. Names in it are hashes and nothing else: an id of a catalog never becomes a part of a
 * path. What lies directly in it was verified; what is unfinished or refused lies in `unfinished`.
 */
export class ModelFolder {
  readonly path: string
  readonly #aside: string

  constructor(path: string) {
    this.path = path
    this.#aside = join(path, 'unfinished')
  }

  async make(): Promise<void> {
    await mkdir(this.#aside, { recursive: true, mode: 0o700 })
  }

  pathOf(sha256: string): string {
    return join(this.path, `${sha256}.gguf`)
  }

  #partial(sha256: string): string {
    return join(this.#aside, `${sha256}.part`)
  }

  #rejected(sha256: string): string {
    return join(this.#aside, `${sha256}.rejected`)
  }

  sizeOf(sha256: string): Promise<number | null> {
    return sizeOf(this.pathOf(sha256))
  }

  async partialBytes(sha256: string): Promise<number> {
    return (await sizeOf(this.#partial(sha256))) ?? 0
  }

  async freeBytes(): Promise<number> {
    await this.make()
    const { bavail, bsize } = await statfs(this.path)
    return Math.max(0, bavail * bsize - reservedBytes)
  }

  async openPartial(sha256: string): Promise<FileHandle> {
    await this.make()
    return open(this.#partial(sha256), O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o600)
  }

  /** Null where no regular file lies in place. */
  async openFile(sha256: string): Promise<FileHandle | null> {
    if ((await this.sizeOf(sha256)) === null) return null
    return open(this.pathOf(sha256), O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  }

  /** @SECURITY Only for bytes whose hash is equal; models/install.test.ts. */
  async publish(sha256: string, handle: FileHandle): Promise<void> {
    await handle.chmod(0o444)
    await handle.sync()
    await rename(this.#partial(sha256), this.pathOf(sha256))
    await this.#sync()
    await rm(this.#rejected(sha256), { force: true })
  }

  /** Takes a download apart that was refused, for whoever wants to look at it. */
  async rejectPartial(sha256: string): Promise<void> {
    await rename(this.#partial(sha256), this.#rejected(sha256))
  }

  async rejectFile(sha256: string): Promise<void> {
    await this.make()
    const gone = (cause: NodeJS.ErrnoException) => {
      if (cause.code !== 'ENOENT') throw cause
    }
    await rename(this.pathOf(sha256), this.#rejected(sha256)).catch(gone)
    await this.#sync()
  }

  async dropPartial(sha256: string): Promise<void> {
    await rm(this.#partial(sha256), { force: true })
  }

  async remove(sha256: string): Promise<number> {
    let freed = 0
    for (const path of [this.pathOf(sha256), this.#partial(sha256), this.#rejected(sha256)]) {
      freed += (await sizeOf(path)) ?? 0
      await rm(path, { force: true })
    }
    if (freed > 0) await this.#sync()
    return freed
  }

  /** A name is only safe once its folder is. */
  async #sync(): Promise<void> {
    const folder = await open(this.path, O_RDONLY)
    try {
      await folder.sync()
    } finally {
      await folder.close()
    }
  }
}
