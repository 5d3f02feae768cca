import type { Gates } from '../ports/gates.ts'
import type { ChangedKind, StoreSharing } from '../ports/storage.ts'

/** Changes of one moment are one message. */
const tellEveryMs = 5

/** Changes of a store that the gate processes of one node share. */
export const createSharing = (gates: Gates): StoreSharing => {
  let waiting = new Set<ChangedKind>()
  return {
    joins: gates.index > 0,
    tell(kind) {
      if (waiting.size === 0)
        setTimeout(() => {
          const kinds = [...waiting]
          waiting = new Set()
          gates.tell({ kind: 'changed', kinds })
        }, tellEveryMs).unref()
      waiting.add(kind)
    },
    onForeignChange: (kind, listener) =>
      gates.onNews('changed', ({ kinds }) => {
        if (kinds.includes(kind)) listener()
      }),
  }
}
