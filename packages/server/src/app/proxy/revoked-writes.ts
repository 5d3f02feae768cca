import { parseStored } from '../../domain/parse-stored.ts'
import type { AuditTransaction } from '../../ports/audit.ts'
import type { JsonObject } from '../../ports/json.ts'

/** Writes of one agent that are on their way at once: far more than there are services. */
const sendingMax = 1_000

/** Capture of a write, with the mark of one whose agent was revoked while it was sent. */
type MarkedCapture = JsonObject & { readonly agent_revoked?: true }

/** Null for what a disk has damaged: an agent can be revoked all the same. */
const readCapture = (text: string): MarkedCapture | null => {
  try {
    return parseStored(text, 'write_captures.capture_json')
  } catch {
    return null
  }
}

/**
 * Marks what an agent has on its way, inside the transaction that revokes it. Where it was not taken it is not sent again,
 * also if the agent is restored by then.
 */
export async function markSending(
  { writes, rollbacks }: AuditTransaction,
  agent: string,
): Promise<void> {
  const sending = { agent, statuses: ['executing'], limit: sendingMax, offset: 0 } as const
  for (const { id } of (await writes.list(sending)).writes) {
    const capture = readCapture((await rollbacks.capture(id)) ?? 'null')
    if (capture) await rollbacks.putCapture(id, JSON.stringify({ ...capture, agent_revoked: true }))
  }
}

export const isMarked = (captured: string): boolean => readCapture(captured)?.agent_revoked === true
