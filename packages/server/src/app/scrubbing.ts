import type { Journal, JournalTransaction } from '../ports/audit.ts'
import type { EventBus } from '../ports/events.ts'
import type { Secrets } from '../ports/secrets.ts'

type Outlets = { readonly journal: Journal; readonly events: EventBus }

/**
 * The log and the events without the values of secrets that were used: what the gate has cleaned passes
 * through, and so does what parts record and tell by themselves.
 */
export const scrubbing = <D extends Outlets & { readonly secrets: Pick<Secrets, 'scrub'> }>(
  deps: D,
): D & Outlets => {
  const { journal, events, secrets } = deps
  const within = (tx: JournalTransaction): JournalTransaction => ({
    ...tx,
    append: (draft, extras) => tx.append(secrets.scrub(draft), extras),
  })
  return {
    ...deps,
    journal: {
      append: (draft, extras) => journal.append(secrets.scrub(draft), extras),
      assertRecordable: (draft) => journal.assertRecordable(draft),
      onCommit: (listener) => journal.onCommit(listener),
      transaction: (work) => journal.transaction((tx) => work(within(tx))),
    },
    events: {
      publish: (event) => events.publish(secrets.scrub(event)),
      subscribe: (listener) => events.subscribe(listener),
      poll: (...asked) => events.poll(...asked),
    },
  }
}
