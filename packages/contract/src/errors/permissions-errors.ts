import { type ErrorEntry, entry } from './error-entry.ts'

/** Authentication and permission. */
export const permissionsErrors = {
  AuthenticationFailed: entry(401, -32003, false, 'Authentication failed: {detail}', [
    {
      action: 'use a valid token',
      description: 'An operator makes a new one with `gatehouse agent rotate`.',
    },
  ]),
  PermissionDenied: entry(
    403,
    -32001,
    false,
    'The role {role} may not do this; it needs {permission}.',
    [
      {
        action: 'ask an operator',
        description: 'Ask someone with that permission, or ask for a role that has it.',
      },
    ],
  ),
  PolicyDenied: entry(
    403,
    -32001,
    false,
    'Policy does not let {agent} use {capability}: {detail}',
    [
      {
        action: 'agent.policy',
        description: 'See what you may call. An operator changes the rule that the message names.',
      },
    ],
  ),
  OutsideToolSet: entry(
    403,
    -32001,
    false,
    '{capability} is outside of the tool set of {agent}; an operator changes it with `gatehouse agent edit {agent} --tools`.',
    [
      {
        action: 'agent.capabilities',
        description: 'See what you may call. An operator changes the tool set.',
      },
    ],
  ),
  AgentPaused: entry(403, -32001, true, 'Agent {agent} is paused by an operator.', [
    {
      action: 'wait',
      description: 'An operator resumes the agent; listings still work meanwhile.',
    },
  ]),
  RateLimited: entry(429, -32000, true, 'Rate limit exceeded: {limit} calls/{window} for {match}', [
    {
      action: 'wait',
      description: 'Call again after retry_after_seconds. agent.policy shows your limits.',
    },
  ]),
  Overloaded: entry(503, -32000, true, 'The server is busy: {detail}', [
    { action: 'retry', description: 'Send fewer calls at once and try again shortly.' },
  ]),
  TooManyPending: entry(429, -32000, true, 'Agent {agent} already has {limit} approvals pending.', [
    {
      action: 'approvals.list',
      description: 'See what is pending, and cancel what you no longer need.',
    },
  ]),
} as const satisfies Record<string, ErrorEntry>
