import { z } from 'zod'
import { AgentName, Timestamp, UserTokenId } from './ids.ts'

/** `operator`: all. `approver`: read, decide approvals, cancel writes. `viewer`: read. */
export const PersonRole = z.enum(['operator', 'approver', 'viewer'])
export type PersonRole = z.infer<typeof PersonRole>

/** `hook`: ask, in the name of one agent, whether its client may use a tool of its own; nothing else. */
export const Role = z.enum([...PersonRole.options, 'hook'])
export type Role = z.infer<typeof Role>

export const UserToken = z.object({
  id: UserTokenId,
  label: z.string(),
  role: Role,
  /** Of the role `hook`: the agent in whose name it asks. */
  agent: AgentName.nullable(),
  created_at: Timestamp,
  last_used_at: Timestamp.nullable(),
  revoked_at: Timestamp.nullable(),
})
export type UserToken = z.infer<typeof UserToken>

export const CreateUserToken = z
  .strictObject({
    label: z.string().min(1).max(100),
    role: Role.default('operator'),
    agent: AgentName.optional(),
  })
  .refine(({ role, agent }) => (role === 'hook') === (agent !== undefined), {
    path: ['agent'],
    error: ({ input }) =>
      (input as { readonly role: Role }).role === 'hook'
        ? 'is required for the role hook: it asks in the name of one agent'
        : 'is for the role hook only',
  })
export type CreateUserToken = z.infer<typeof CreateUserToken>

/** The token is shown here and never again. */
export const CreatedUserToken = UserToken.pick({
  id: true,
  label: true,
  role: true,
  agent: true,
}).extend({
  token: z.string(),
})
export type CreatedUserToken = z.infer<typeof CreatedUserToken>

/** How an operator is called at login and in the log. */
export const OperatorName = z
  .string()
  .regex(
    /^[a-z][a-z0-9._-]{0,62}$/,
    'a name starts with a lowercase letter and has at most 63 of a-z, 0-9 and . _ -',
  )
export type OperatorName = z.infer<typeof OperatorName>

/** Checked for more than its length where one is set. */
const password = z.string().min(1).max(1024)

export const Login = z.strictObject({ password, name: OperatorName.optional() })
export type Login = z.infer<typeof Login>

export const SetUp = z.strictObject({
  token: z.string().min(1).max(128),
  password,
  name: OperatorName.optional(),
})
export type SetUp = z.infer<typeof SetUp>

/** Identity of the caller, and until when: a login ends, a user token is valid until it is revoked. */
export const Whoami = z.object({
  name: z.string(),
  role: Role,
  via: z.enum(['login', 'token']),
  expires_at: Timestamp.nullable(),
})
export type Whoami = z.infer<typeof Whoami>

/** A login of a person that is valid. What its browser keeps is never shown. */
export const LoginSession = z.object({
  id: z.string(),
  name: z.string(),
  role: PersonRole,
  created_at: Timestamp,
  /** Last request, as this node has seen it since it started; null where it has seen none. */
  last_used_at: Timestamp.nullable(),
  expires_at: Timestamp,
  /** Address that the last request came from; null where this node has seen none. */
  address: z.string().nullable(),
  /** Whether it is the login that asks. */
  current: z.boolean(),
})
export type LoginSession = z.infer<typeof LoginSession>

export const LoginList = z.object({ logins: z.array(LoginSession) })
export type LoginList = z.infer<typeof LoginList>

export const LoggedOut = z.object({ logged_out: z.literal(true) })
export type LoggedOut = z.infer<typeof LoggedOut>

export const SetupState = z.object({ needed: z.boolean() })
export type SetupState = z.infer<typeof SetupState>

/** The token is shown here and never again; `setupUrl` makes the link of it. */
export const SetupLink = z.object({ token: z.string(), expires_at: Timestamp })
export type SetupLink = z.infer<typeof SetupLink>

export const Operator = z.object({
  name: z.string(),
  role: PersonRole,
  created_at: Timestamp,
  password_changed_at: Timestamp,
})
export type Operator = z.infer<typeof Operator>

export const OperatorList = z.object({ operators: z.array(Operator) })
export type OperatorList = z.infer<typeof OperatorList>

/** Present password: required of people who are logged in by a password. */
export const SetPassword = z.strictObject({
  password,
  current_password: password.optional(),
  /** Of a new person, `operator` unless said; of one that is there it replaces the role. */
  role: PersonRole.optional(),
  /** Whether it is for a person who is there: nobody is made, also where that person was just removed. */
  existing: z.boolean().optional(),
})
export type SetPassword = z.infer<typeof SetPassword>

/** `created` where there was nobody of that name. */
export const PasswordSet = Operator.extend({ created: z.boolean() })
export type PasswordSet = z.infer<typeof PasswordSet>

export const UserTokenList = z.object({ user_tokens: z.array(UserToken) })
export type UserTokenList = z.infer<typeof UserTokenList>
