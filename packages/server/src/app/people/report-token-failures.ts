import { actDraft } from '../call/audit-draft.ts'
import type { Basics } from '../call/basics.ts'

/** Puts wrong tokens on record, without the token. A log that cannot take it is reported by itself. */
export async function reportTokenFailures(
  deps: Pick<Basics, 'auditLog' | 'ids' | 'log'>,
  {
    address,
    count,
    listener,
  }: { readonly address: string; readonly count: number; readonly listener: string },
): Promise<void> {
  const op = {
    actor: { kind: 'system' },
    request_id: deps.ids.next('req'),
    session_id: null,
    signal: new AbortController().signal,
  } as const
  try {
    const detail = { address, count, listener }
    await deps.auditLog.append(actDraft(op, 'authentication.failed', { result: 'denied', detail }))
  } catch (cause) {
    deps.log.warn({ err: cause, address, count, listener }, 'wrong tokens could not be recorded')
  }
}
