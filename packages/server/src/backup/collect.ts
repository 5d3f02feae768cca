import { constants } from 'node:fs'
import { open, readdir, readlink, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import type { PackedFile } from './pack.ts'

async function* contentOf(file: string, path: string, root: string): AsyncGenerator<PackedFile> {
  // @SECURITY Agents write in workspaces: a link there leads out of it, so none is followed; backup.test.ts.
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK
  const handle = await open(file, flags).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'ENOENT' || cause.code === 'ELOOP') return null
    throw cause
  })
  if (!handle) return
  try {
    const stat = await handle.stat()
    if (!stat.isFile()) return
    // A folder above it may have become a link since it was listed: what was opened must lie inside too.
    const real = await readlink(`/proc/self/fd/${handle.fd}`).catch(() => realpath(file))
    if (real !== root && !real.startsWith(`${root}/`)) return
    yield {
      path,
      size: stat.size,
      content: handle.createReadStream({ autoClose: false, start: 0 }),
    }
  } finally {
    await handle.close()
  }
}

/** A file, or everything in a folder, under a name in the backup. Links and special files are left out. */
export async function* collect(
  source: string,
  path: string,
  inside?: string,
): AsyncGenerator<PackedFile> {
  const entries = await readdir(source, { withFileTypes: true }).catch(
    (cause: NodeJS.ErrnoException) => {
      if (cause.code === 'ENOENT') return []
      if (cause.code === 'ENOTDIR') return null
      throw cause
    },
  )
  if (entries?.length === 0) return
  const root = inside ?? (await realpath(source))
  if (entries === null) return yield* contentOf(source, path, root)
  for (const entry of entries) {
    const [inner, name] = [join(source, entry.name), `${path}/${entry.name}`]
    if (entry.isDirectory()) yield* collect(inner, name, root)
    else if (entry.isFile()) yield* contentOf(inner, name, root)
  }
}
