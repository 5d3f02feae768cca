import { type ErrorEntry, entry } from './error-entry.ts'

/** Approvals. */
export const approvalsErrors = {
  ApprovalRequired: entry(202, -32002, false, '{capability} waits for a person to approve it.', [
    {
      action: 'approvals.wait',
      description: 'Wait for the decision with the approval_id, or make the same call again later.',
    },
  ]),
  ApprovalNotFound: entry(
    404,
    -32602,
    false,
    'There is no approval {approval_id}.',
    [
      {
        action: 'approvals.list',
        description: 'List your approvals; those of other agents are not shown.',
      },
    ],
    [{ action: 'gatehouse approvals list', description: 'See which requests there are.' }],
  ),
  ApprovalNotPending: entry(
    409,
    -32602,
    false,
    'Approval {approval_id} is already {status}.',
    [{ action: 'approvals.get', description: "Read what was decided; it can't be changed." }],
    [
      {
        action: 'gatehouse approvals show',
        description: "Read what was decided; it can't be changed.",
      },
    ],
  ),
  ApprovalDigestMismatch: entry(
    409,
    -32602,
    false,
    'The digest sent is not the digest of {approval_id}: what you saw is not what would run.',
    [
      {
        action: 'gatehouse approvals show',
        description: 'Look at the request again and decide on what it shows.',
      },
    ],
  ),
  LoginTooOld: entry(
    403,
    -32602,
    false,
    '{approval_id} is critical: it is approved within {minutes} minutes of a login.',
    [{ action: 'log in', description: 'Log in again with your password, and decide then.' }],
  ),
  RememberRefused: entry(400, -32602, false, 'This approval cannot be remembered: {detail}', [
    { action: 'approve once', description: 'Approve this request alone, without remembering it.' },
  ]),
  EditRefused: entry(400, -32602, false, 'This request cannot be approved with changes: {detail}', [
    {
      action: 'approve or reject',
      description: 'Decide on the request as it is, or change what the message names.',
    },
  ]),
  GrantNotFound: entry(404, -32602, false, 'There is no standing grant {grant_id}.', [
    { action: 'gatehouse grants list', description: 'See which standing grants there are.' },
  ]),
  ApprovalRejected: entry(403, null, false, 'The request was rejected: {reason}', [
    {
      action: 'ask',
      description: 'Read the reason, change the request or ask the person who decided.',
    },
  ]),
  ApprovalExpired: entry(410, null, false, 'Nobody decided on {approval_id} in time.', [
    {
      action: 'repeat',
      description: 'Make the call again if it is still needed; a new request is stored.',
    },
  ]),
  ApprovalCancelled: entry(410, null, false, 'The request {approval_id} was cancelled{detail}.', [
    {
      action: 'repeat',
      description: 'Make the call again if it is still needed; a new request is stored.',
    },
  ]),
  ApprovalStale: entry(409, null, false, 'The request {approval_id} is stale: {detail}', [
    {
      action: 'repeat',
      description: 'Make the call again: a person is shown its current state.',
    },
  ]),
  ExecutionInterrupted: entry(
    500,
    null,
    false,
    'The service stopped while {approval_id} ran. It is not known whether it took effect, and it is not run again.',
    [
      {
        action: 'check',
        description: 'Check whether the effect is there before you repeat the call.',
      },
    ],
  ),
  OutcomeUnknown: entry(
    500,
    null,
    false,
    'The service stopped during the call; its effect is unknown.',
    [
      {
        action: 'check',
        description: 'Check whether the effect is there before you repeat the call.',
      },
    ],
  ),
} as const satisfies Record<string, ErrorEntry>
