import type { AuditDraft, AuditLog, AuditTransaction } from '../../ports/audit.ts'
import type { EventBus } from '../../ports/events.ts'
import type { Secrets } from '../../ports/secrets.ts'

type Outlets = { readonly auditLog: AuditLog; readonly events: EventBus }

/**
 * The log and the events without the values of secrets that were used: what the gate has cleaned passes
 * through, and so does what parts record and tell by themselves.
 */
export const scrubbing = <D extends Outlets & { readonly secrets: Pick<Secrets, 'scrub'> }>(
  deps: D,
): D & Outlets => {
  const { auditLog, events, secrets } = deps
  // Actor, capability and time are never scrubbed: a secret that is a word does not rename an agent.
  const clean = (draft: AuditDraft): AuditDraft => {
    const detail = secrets.scrub(draft.detail)
    const said = secrets.scrub(draft.arguments)
    const message = secrets.scrub(draft.error?.message)
    if (detail === draft.detail && said === draft.arguments && message === draft.error?.message)
      return draft
    const error = draft.error && { ...draft.error, message: message ?? '' }
    return { ...draft, arguments: said, detail, error }
  }
  const within = (tx: AuditTransaction): AuditTransaction => ({
    ...tx,
    append: (draft, extras) => tx.append(clean(draft), extras),
  })
  return {
    ...deps,
    auditLog: {
      append: (draft, extras) => auditLog.append(clean(draft), extras),
      assertRecordable: (draft) => auditLog.assertRecordable(draft),
      onCommit: (listener) => auditLog.onCommit(listener),
      transaction: (work) => auditLog.transaction((tx) => work(within(tx))),
    },
    events: {
      publish: (event) => {
        const data = secrets.scrub(event.data)
        events.publish(data === event.data ? event : { ...event, data })
      },
      subscribe: (listener) => events.subscribe(listener),
      poll: (...asked) => events.poll(...asked),
    },
  }
}
