import { GatehouseError } from '@gatehouse/contract'
import type { CapabilityContext } from '../../ports/capability.ts'
import type { FoundEntry } from '../../ports/files.ts'

/** More than this is not looked at in one call; the answer says so. */
export const visitedMax = 200_000

type Below = AsyncIterable<FoundEntry> & {
  /** Whether the search ended before everything was seen. */
  readonly cut: boolean
  /** How many things policy kept from the call. What lies below such a folder is not counted. */
  readonly withheld: number
}

type Seeing = Pick<CapabilityContext, 'files' | 'signal'>

/** Everything below a folder but the insides of `.git`; of a file, the file itself. */
export const filesBelow = ({ files, signal }: Seeing, path: string, max = visitedMax): Below => {
  let cut = false
  let withheld = 0
  async function* visit(): AsyncGenerator<FoundEntry> {
    let visited = 0
    const options = {
      enter: ({ name }: FoundEntry) => name !== '.git',
      withheld: () => {
        withheld++
      },
    }
    for await (const entry of files.walk(path, signal, options)) {
      if (visited++ >= max) {
        cut = true
        return
      }
      yield entry
    }
    if (signal.aborted) throw new GatehouseError('Cancelled')
  }
  return {
    [Symbol.asyncIterator]: visit,
    get cut() {
      return cut
    },
    get withheld() {
      return withheld
    },
  }
}
