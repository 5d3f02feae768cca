import type { AuditEntry, RuleRef } from '@gatehouse/contract'
import { canonical, canonicalText } from './canonical.ts'
import type { Digests } from './hashing.ts'
import { keepFields, keepSentence, keepWord } from './redact.ts'
import type { LogRow } from './row.ts'

/** Entry before the log places it. */
export type EntryDraft = Omit<
  AuditEntry,
  'id' | 'timestamp' | 'chain' | 'seq' | 'hash' | 'arguments' | 'detail' | 'session_id'
> & {
  readonly arguments: Readonly<Record<string, unknown>>
  readonly detail: Readonly<Record<string, unknown>> | null
  readonly session_id: string | null
  /** Names of top-level arguments that are stored as a keyed hash. */
  readonly redact?: readonly string[]
}

export type Place = { readonly id: string; readonly timestamp: string; readonly chain: string }

/** A draft that says only what is given; everything else has the value for "nothing to say". */
export const plainDraft = (
  said: Pick<EntryDraft, 'capability' | 'actor' | 'request_id'> & Partial<EntryDraft>,
): EntryDraft => ({
  kind: 'act',
  agent: '',
  arguments: {},
  result: 'success',
  policy_decision: 'none',
  session_id: null,
  rule: null,
  duration_ms: null,
  approval_id: null,
  intent_id: null,
  error: null,
  detail: null,
  ...said,
})

/** An entry that is complete but for `seq` and `hash`, which the commit gives. */
export type SealedEntry = {
  readonly fields: AuditEntry
  readonly before: string
  readonly after: string
}

const ruleTexts = new WeakMap<RuleRef, string>()

/** Nearly every entry names one of a few rules. Of one that could still change the text is made anew. */
const textOfRule = (rule: RuleRef | null): string => {
  if (rule === null) return 'null'
  if (!Object.isFrozen(rule)) return canonical(rule)
  let text = ruleTexts.get(rule)
  if (text === undefined) ruleTexts.set(rule, (text = canonical(rule)))
  return text
}

/**
 * Serialises an entry now, so that nothing the caller changes later gets in. The body is the canonical
 * JSON of every field but `hash`: the keys below stand in canonical order, with `seq` left open.
 */
export const sealEntry = (draft: EntryDraft, place: Place, digests: Digests): SealedEntry => {
  const kept = keepFields(draft.arguments, draft.redact ?? [], digests)
  const detail = draft.detail && keepFields(draft.detail, [], digests)
  const fields = {
    id: place.id as AuditEntry['id'],
    timestamp: place.timestamp,
    kind: draft.kind,
    agent: keepWord(draft.agent),
    capability: keepWord(draft.capability),
    arguments: kept.value,
    result: draft.result,
    policy_decision: draft.policy_decision,
    actor: keepWord(draft.actor),
    session_id: draft.session_id as AuditEntry['session_id'],
    request_id: keepWord(draft.request_id),
    rule: draft.rule,
    duration_ms: draft.duration_ms,
    approval_id: draft.approval_id,
    intent_id: draft.intent_id,
    error: draft.error && {
      type: draft.error.type,
      message: keepSentence(draft.error.message),
    },
    detail: detail?.value ?? null,
    chain: place.chain,
    seq: 0,
    hash: '',
  }
  const text = canonicalText
  // Written out with a function for texts alone: this runs for every entry. What we named ourselves is plain.
  return {
    fields,
    before:
      `{"actor":${text(fields.actor)},"agent":${text(fields.agent)}` +
      `,"approval_id":${text(fields.approval_id)},"arguments":${kept.text}` +
      `,"capability":${text(fields.capability)},"chain":${text(fields.chain)}` +
      `,"detail":${detail?.text ?? 'null'},"duration_ms":${fields.duration_ms ?? 'null'}` +
      `,"error":${fields.error === null ? 'null' : canonical(fields.error)},"id":"${fields.id}"` +
      `,"intent_id":${text(fields.intent_id)},"kind":"${fields.kind}"` +
      `,"policy_decision":${text(fields.policy_decision)}` +
      `,"request_id":${text(fields.request_id)},"result":"${fields.result}"` +
      `,"rule":${textOfRule(fields.rule)},"seq":`,
    after: `,"session_id":${text(fields.session_id)},"timestamp":"${fields.timestamp}"}`,
  }
}

export const bodyOf = (sealed: SealedEntry, seq: number): string =>
  `${sealed.before}${seq}${sealed.after}`

export const rowOf = (sealed: SealedEntry, seq: number, hash: string, body: string): LogRow => {
  const { fields } = sealed
  return {
    chain: fields.chain,
    seq,
    id: fields.id,
    hash,
    body,
    timestamp: fields.timestamp,
    kind: fields.kind,
    agent: fields.agent,
    capability: fields.capability,
    result: fields.result,
    policy_decision: fields.policy_decision,
    session_id: fields.session_id,
    duration_ms: fields.duration_ms,
    intent_id: fields.intent_id,
    approval_id: fields.approval_id,
    detail: fields.detail,
  }
}

/** The entry as its caller gets it. Its place is written into the fields: a copy costs more than the hash. */
export const entryAt = ({ fields }: SealedEntry, seq: number, hash: string): AuditEntry => {
  fields.seq = seq
  fields.hash = `sha256:${hash}`
  return fields
}

/** An entry as it is shown, from the hashed bytes; columns only stand in where those are unreadable. */
export const entryOf = (row: LogRow): AuditEntry => {
  const hash = `sha256:${row.hash}`
  try {
    const fields = JSON.parse(row.body) as Omit<AuditEntry, 'hash'>
    // Entries of the first versions have null where no policy was asked.
    fields.policy_decision ??= 'none'
    return { ...fields, hash }
  } catch {
    const { body, ...columns } = row
    const unreadable = { damaged: 'The stored entry cannot be read.', bytes: body.length }
    return {
      ...columns,
      policy_decision: columns.policy_decision ?? 'none',
      actor: '',
      arguments: {},
      request_id: '',
      rule: null,
      error: null,
      detail: unreadable,
      hash,
    } as unknown as AuditEntry
  }
}
