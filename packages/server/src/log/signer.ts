import { rootOf } from '../domain/audit/merkle.ts'
import type { Log } from '../ports/log.ts'
import { type Checkpoints, originOf } from './checkpoints.ts'
import { hashing } from './hashing.ts'
import type { Checkpoint } from './note.ts'
import type { Standing } from './writer.ts'

type Parts = {
  readonly chain: string
  readonly checkpoints: Checkpoints
  readonly standing: () => Standing
  readonly log: Log
  readonly everyEntries: number
}

/** Decides when a checkpoint is due. The tree only ever grows from the marked one, so none contradicts another. */
export interface Signer {
  /** Checkpoints of the tree as it is signed now, not each of the older ones. */
  signed(): readonly Checkpoint[]

  /** Each of them. */
  all(): readonly Checkpoint[]

  /** Signs the tree as it stands, unless the last checkpoint says the same. Never throws. */
  sign(): void

  /** Told after each commit; signs later in the same turn when enough entries have come. */
  grown(): void
}

export const createSigner = (parts: Parts): Signer => {
  const { chain, checkpoints, standing, log } = parts
  const signed = () => checkpoints.of(originOf(chain, standing().epoch))
  let due = false
  let last = -1

  const sign = (): void => {
    due = false
    const { state, epoch } = standing()
    last = signed().at(-1)?.size ?? 0
    if (state.size <= last) return
    try {
      const root = rootOf(hashing, state.peaks)
      checkpoints.add(originOf(chain, epoch), state.size, root)
      last = state.size
    } catch (error) {
      log.error({ err: error }, 'a checkpoint of the audit log could not be stored')
    }
  }

  return {
    signed,
    all: () => checkpoints.all(originOf(chain, standing().epoch)),
    sign,
    grown() {
      if (last < 0) last = signed().at(-1)?.size ?? 0
      if (due || standing().state.size - last < parts.everyEntries) return
      due = true
      setImmediate(sign)
    },
  }
}
