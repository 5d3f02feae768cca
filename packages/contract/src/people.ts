import { z } from 'zod'
import { Timestamp, UserTokenId } from './ids.ts'

/** `operator`: all. `approver`: read, decide approvals, cancel writes. `viewer`: read. */
export const Role = z.enum(['operator', 'approver', 'viewer'])
export type Role = z.infer<typeof Role>

export const UserToken = z.object({
  id: UserTokenId,
  label: z.string(),
  role: Role,
  created_at: Timestamp,
  last_used_at: Timestamp.nullable(),
  revoked_at: Timestamp.nullable(),
})
export type UserToken = z.infer<typeof UserToken>

export const CreateUserToken = z.strictObject({
  label: z.string().min(1).max(100),
  role: Role.default('operator'),
})
export type CreateUserToken = z.infer<typeof CreateUserToken>

/** The token is shown here and never again. */
export const CreatedUserToken = UserToken.pick({ id: true, label: true, role: true }).extend({
  token: z.string(),
})
export type CreatedUserToken = z.infer<typeof CreatedUserToken>
