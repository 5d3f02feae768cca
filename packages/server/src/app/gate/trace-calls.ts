import type { NoteSpan, SpanFacts, Tracing } from '../../ports/tracing.ts'
import type { Invoke, InvokeOutcome } from '../call/invoke.ts'

const nameMax = 128

const noteOutcome = (outcome: InvokeOutcome, note: NoteSpan): void => {
  const facts: SpanFacts = { 'gatehouse.outcome': outcome.kind }
  switch (outcome.kind) {
    case 'succeeded':
      return note(facts)
    case 'pending':
      return note({ ...facts, 'gatehouse.approval_id': outcome.pending.approval_id })
    case 'failed':
      return note({ ...facts, 'error.type': outcome.error.type }, outcome.error.type)
    default:
      return note(facts, outcome.kind)
  }
}

/** The gate with a span around each call. What a call says goes into no span: only who, what and how it ended. */
export const traceCalls =
  (tracing: Tracing, invoke: Invoke): Invoke =>
  (op, input) =>
    tracing.span(
      {
        // Not the name of the capability: an agent may write there what it likes.
        name: 'invoke',
        parent: op.trace,
        facts: {
          'gatehouse.agent': op.actor.name,
          'gatehouse.capability': String(input.capability).slice(0, nameMax),
          'gatehouse.request_id': op.request_id,
          ...(op.session_id === null ? {} : { 'gatehouse.session_id': op.session_id }),
        },
      },
      async (note) => {
        const outcome = await invoke(op, input)
        noteOutcome(outcome, note)
        return outcome
      },
    )

/** The same around the run of an approved request, which comes long after the call that asked for it. */
export const traceExecution =
  (tracing: Tracing, execute: (approvalId: string) => Promise<void>) =>
  (approvalId: string): Promise<void> =>
    tracing.span(
      {
        name: 'execute approval',
        parent: undefined,
        facts: { 'gatehouse.approval_id': approvalId },
      },
      () => execute(approvalId),
    )
