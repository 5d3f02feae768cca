/**
 * Number that no entry has, so that the one after it is a number, too. A stored one that is greater is told as this one, which
 * is enough to know that no log of ours wrote it.
 */
export const seqMax = Number.MAX_SAFE_INTEGER - 1

/** An entry as it is stored: the hashed text, its hash in hex, and copies of fields for the indexes. */
export type LogRow = {
  readonly chain: string
  readonly seq: number
  readonly id: string
  readonly hash: string
  readonly body: string
  readonly timestamp: string
  readonly kind: string
  readonly agent: string
  readonly capability: string
  readonly result: string
  /** Null in rows of the first versions, where no policy was asked. */
  readonly policy_decision: string | null
  readonly session_id: string | null
  readonly duration_ms: number | null
  /** The intent that this row closes, or null. */
  readonly intent_id: string | null
  readonly approval_id: string | null
  /** As the body has it. */
  readonly detail: unknown
}

/** The copies. A changed one would change what a query finds, so each is compared with the body. */
export const copiedFields = [
  'agent',
  'approval_id',
  'capability',
  'chain',
  'duration_ms',
  'id',
  'intent_id',
  'kind',
  'policy_decision',
  'result',
  'seq',
  'session_id',
  'timestamp',
] as const satisfies readonly (keyof LogRow)[]
