import { closeSync, createReadStream, fsyncSync, mkdirSync, openSync, readdirSync } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { mkdtemp, open, rename, rm, rmdir } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { BackupSecret } from '../ports/backup.ts'
import type { Manifest } from './pack.ts'
import { type Sink, unpack } from './unpack.ts'
import { refuse, unseal } from './unseal.ts'

export type Restored = Manifest & { readonly files: number; readonly bytes: number }

type Input = {
  readonly file: string
  readonly secret: BackupSecret
  /** A folder that does not exist yet, or is empty. */
  readonly target: string
}

const isFree = (target: string): boolean => {
  try {
    return readdirSync(target).length === 0
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return true
    throw cause
  }
}

async function* read({ file, secret }: Pick<Input, 'file' | 'secret'>): AsyncGenerator<Buffer> {
  const source = createReadStream(file, { highWaterMark: 256 * 1024 })
  try {
    yield* unseal(source, secret)
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).syscall === undefined) throw cause
    return refuse(`${file} cannot be read (${(cause as NodeJS.ErrnoException).code})`)
  }
}

/** Opens and reads every byte of a backup, and writes nothing. */
export async function inspectBackup(input: Pick<Input, 'file' | 'secret'>): Promise<Restored> {
  let bytes = 0
  const { manifest, files } = await unpack(read(input), {
    open: async (_path, size) => void (bytes += size),
    write: async () => {},
    close: async () => {},
  })
  return { ...manifest, files, bytes }
}

const writingInto = (folder: string): Sink => {
  let handle: FileHandle | null = null
  return {
    async open(path) {
      const file = join(folder, ...path.split('/'))
      mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
      handle = await open(file, 'wx', 0o600)
    },
    async write(bytes) {
      await handle?.writeFile(bytes)
    },
    async close() {
      await handle?.sync()
      await handle?.close()
      handle = null
    },
  }
}

/**
 * Verifies a backup whole, then lays it out beside the target and moves it there in one step: whatever goes
 * wrong, the target is as it was.
 */
export async function restoreBackup(input: Input): Promise<Restored> {
  const { target } = input
  if (!isFree(target)) return refuse(`${target} is not empty; name a new folder`)
  await inspectBackup(input)
  mkdirSync(dirname(target), { recursive: true, mode: 0o700 })
  const staging = await mkdtemp(join(dirname(target), `.${basename(target)}-restoring-`))
  try {
    let bytes = 0
    const sink = writingInto(staging)
    const { manifest, files } = await unpack(read(input), {
      ...sink,
      async open(path, size) {
        bytes += size
        await sink.open(path, size)
      },
    })
    await rmdir(target).catch((cause: NodeJS.ErrnoException) => {
      if (cause.code !== 'ENOENT') throw cause
    })
    await rename(staging, target)
    const parent = openSync(dirname(target), 'r')
    fsyncSync(parent)
    closeSync(parent)
    return { ...manifest, files, bytes }
  } catch (cause) {
    await rm(staging, { recursive: true, force: true })
    throw cause
  }
}
