import { z } from 'zod'

/**
 * Ids are `<prefix>-` and 26 characters of lowercase Crockford base32: 48 bits of milliseconds, 15 that number
 * those of one millisecond, and 65 random bits. They sort by creation and cannot be guessed. Only `ports/ids` makes them.
 */
const idOf = <P extends string>(prefix: P) =>
  z
    .string()
    .regex(new RegExp(`^${prefix}-[0-9a-hjkmnp-tv-z]{26}$`), `expected ${prefix}-<id>`)
    .brand<P>()

export const ApprovalId = idOf('appr')
export type ApprovalId = z.infer<typeof ApprovalId>
export const AuditId = idOf('aud')
export type AuditId = z.infer<typeof AuditId>
export const SessionId = idOf('sess')
export type SessionId = z.infer<typeof SessionId>
export const UserTokenId = idOf('ut')
export type UserTokenId = z.infer<typeof UserTokenId>
export const WatchId = idOf('watch')
export type WatchId = z.infer<typeof WatchId>
export const AlertId = idOf('alert')
export type AlertId = z.infer<typeof AlertId>
export const TrashId = idOf('trash')
export type TrashId = z.infer<typeof TrashId>
export const ScheduleId = idOf('sched')
export type ScheduleId = z.infer<typeof ScheduleId>
export const MessageId = idOf('msg')
export type MessageId = z.infer<typeof MessageId>
export const GrantId = idOf('grant')
export type GrantId = z.infer<typeof GrantId>
export const WriteId = idOf('wr')
export type WriteId = z.infer<typeof WriteId>
export const RollbackId = idOf('rb')
export type RollbackId = z.infer<typeof RollbackId>

export const QuestionId = idOf('ques')
export type QuestionId = z.infer<typeof QuestionId>

export const ProcessId = idOf('proc')
export type ProcessId = z.infer<typeof ProcessId>

export type IdPrefix =
  | 'appr'
  | 'aud'
  | 'sess'
  | 'ut'
  | 'watch'
  | 'trash'
  | 'evt'
  | 'req'
  | 'exec'
  | 'alert'
  | 'job'
  | 'sched'
  | 'msg'
  | 'sub'
  | 'wake'
  | 'grant'
  | 'proc'
  | 'sec'
  | 'ques'
  | 'wr'
  | 'rb'

/** `shared` names the shared state area, so no agent may be called that. */
export const AgentName = z
  .string()
  .regex(
    /^[a-z][a-z0-9-]{0,62}$/,
    'a name starts with a lowercase letter and has at most 63 of a-z, 0-9 and -',
  )
  .refine((name) => name !== 'shared', '"shared" is reserved for the shared state area')
export type AgentName = z.infer<typeof AgentName>

/** `<group>.<action>`: two parts of lowercase letters, digits and `_`. */
export const CapabilityName = z
  .string()
  .max(128)
  .regex(/^[a-z][a-z0-9_-]*\.[A-Za-z0-9][A-Za-z0-9_-]*$/, 'expected <group>.<action>')
export type CapabilityName = z.infer<typeof CapabilityName>

/** RFC 3339 in UTC with milliseconds, as `Date.prototype.toISOString` prints it. */
export const Timestamp = z.string().regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
export type Timestamp = z.infer<typeof Timestamp>
