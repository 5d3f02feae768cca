import { createHash } from 'node:crypto'
import { GatehouseError } from '@gatehouse/contract'
import type { Fingerprint } from '../ports/files.ts'
import { failure } from './failure.ts'
import { isMissing } from './place-walk.ts'
import type { Roots } from './roots.ts'
import type { Temps } from './temps.ts'
import { writeAll } from './transfer.ts'
import { openPlace, type Place, publishFile, type Written } from './write.ts'

type Deps = { readonly roots: Roots; readonly temps: Temps; readonly denyHardlinks: boolean }

export type StreamOptions = {
  readonly createParents: boolean
  readonly mustBeNew: boolean
  readonly sha256?: string
  readonly bound?: Fingerprint | null | undefined
}

/** A root that was deleted and made again is opened anew; nothing of the stream is asked for before. */
const placeFor = ({ roots, denyHardlinks }: Deps, shown: string, createParents: boolean): Place => {
  try {
    return openPlace(roots, shown, { createParents, denyHardlinks })
  } catch (error) {
    if (!isMissing(error) || !roots.revive()) throw error
    return openPlace(roots, shown, { createParents, denyHardlinks })
  }
}

/** Writes what arrives under a name that nobody can address, and puts it in place once it is complete. */
export const writeStream = async (
  deps: Deps,
  shown: string,
  chunks: AsyncIterable<Uint8Array>,
  options: StreamOptions,
): Promise<Written> => {
  const place = placeFor(deps, shown, options.createParents)
  try {
    if (options.mustBeNew && place.old) throw new GatehouseError('AlreadyExists', { path: shown })
    const sum = createHash('sha256')
    let size_bytes = 0
    let sha256 = ''
    const { mustBeNew, bound } = options
    await publishFile(deps.temps, place, { replace: !mustBeNew, bound }, async (fd) => {
      for await (const chunk of chunks) {
        sum.update(chunk)
        size_bytes += chunk.length
        await writeAll(fd, chunk)
      }
      sha256 = sum.digest('hex')
      if (options.sha256 !== undefined && options.sha256 !== sha256)
        throw new GatehouseError('DigestMismatch', {
          path: shown,
          sha256,
          expected: options.sha256,
        })
    })
    return { path: place.path, size_bytes, sha256, created: !place.old }
  } catch (error) {
    throw failure(error, shown)
  } finally {
    place.dir.close()
  }
}
