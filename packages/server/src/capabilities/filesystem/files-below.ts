import { GatehouseError } from '@gatehouse/contract'
import type { CapabilityContext } from '../../ports/capability.ts'
import type { FileEntry } from '../../ports/files.ts'

/** More than this is not looked at in one call; the answer says so. */
export const visitedMax = 200_000

export type Found = FileEntry & {
  readonly path: string
  /** Below the folder where the search began. */
  readonly relative: string
}

type Below = AsyncIterable<Found> & {
  /** Whether the search ended before everything was seen. */
  readonly cut: boolean
}

type Seeing = Pick<CapabilityContext, 'files' | 'signal'>

/** Everything below a folder but the insides of `.git`; of a file, the file itself. */
export const filesBelow = ({ files, signal }: Seeing, path: string, max = visitedMax): Below => {
  let cut = false
  async function* visit(): AsyncGenerator<Found> {
    const start = await files.stat(path)
    if (start?.type === 'file') {
      const real = files.resolve(path)
      const name = real.slice(real.lastIndexOf('/') + 1)
      const { type, size_bytes, modified_at } = start
      yield { name, type, size_bytes, modified_at, path: real, relative: name }
      return
    }
    let base = ''
    let visited = 0
    for await (const entry of files.walk(path, signal, (folder) => folder.name !== '.git')) {
      // The first entry lies directly in the folder, whose real path is what comes before its name.
      if (visited === 0) base = entry.path.slice(0, -entry.name.length)
      if (visited++ >= max) {
        cut = true
        return
      }
      yield { ...entry, relative: entry.path.slice(base.length) }
    }
    if (signal.aborted) throw new GatehouseError('Cancelled')
  }
  return {
    [Symbol.asyncIterator]: visit,
    get cut() {
      return cut
    },
  }
}
