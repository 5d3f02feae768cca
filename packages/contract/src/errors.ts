/** What an agent or a person can do next: `action` is a capability, a command or a short verb phrase. */
export type Recovery = { readonly action: string; readonly description: string }

export type ErrorEntry = {
  /** Status at the REST doors. */
  readonly http: number
  /** JSON-RPC code; `null` = a failure of the capability (a result), not of the protocol. */
  readonly rpc: number | null
  /** Whether the same request may succeed later without a change. */
  readonly retry: boolean
  /** Sentence shown to agents and people. `{name}` is replaced by the fact of that name. */
  readonly say: string
  readonly recovery: readonly Recovery[]
}

const entry = (
  http: number,
  rpc: number | null,
  retry: boolean,
  say: string,
  recovery: readonly Recovery[] = [],
): ErrorEntry => ({ http, rpc, retry, say, recovery })

const listFolder = {
  action: 'filesystem.list',
  description: 'List the folder to see what is there.',
}
const statPath = { action: 'filesystem.stat', description: 'Ask what stands at the path first.' }
const stayInside = {
  action: 'agent.whoami',
  description:
    'See which folders are yours; paths are absolute inside them or relative to your workspace.',
}

/**
 * Every error that can leave the process. Each transport maps it once, at its edge, and the reference
 * page is generated from it.
 */
export const errorTable = {
  // Arguments and names
  InvalidArguments: entry(400, null, false, 'The arguments do not fit {capability}: {detail}', [
    { action: 'fix the arguments', description: 'Correct what the message names and call again.' },
  ]),
  InvalidParams: entry(400, -32602, false, 'Invalid params: {detail}', [
    {
      action: 'fix the parameters',
      description: 'Correct what the message names and send the request again.',
    },
  ]),
  InvalidRequest: entry(400, -32600, false, 'Invalid request: {detail}', [
    {
      action: 'fix the request',
      description: 'Correct what the message names and send the request again.',
    },
  ]),
  ParseError: entry(400, -32700, false, 'The body is not valid JSON: {detail}', [
    { action: 'fix the body', description: 'Send one JSON value in UTF-8.' },
  ]),
  MethodNotFound: entry(404, -32601, false, 'There is no method {method}.', [
    {
      action: 'list the methods',
      description: 'The reference names them; MCP calls tools with tools/call.',
    },
  ]),
  UnknownCapability: entry(404, -32602, false, 'There is no capability {capability}.', [
    { action: 'agent.capabilities', description: 'List what you may call.' },
  ]),
  // Who and whether
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
        description: 'Somebody with that permission does it, or gives you a role that has it.',
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
      description: 'See what waits, and cancel what is no longer needed.',
    },
  ]),
  // The doors, before anything of the body is looked at
  MethodNotAllowed: entry(405, -32600, false, '{path} answers {allowed}, not {method}.', [
    { action: 'change the method', description: 'Use one of those that the message names.' },
  ]),
  BodyTooLarge: entry(413, -32600, false, 'The body has more than {limit_bytes} bytes.', [
    {
      action: 'send less',
      description: 'Split the request, or put the content into a file first.',
    },
  ]),
  UnsupportedMediaType: entry(415, -32600, false, 'The body must be plain JSON: {detail}', [
    {
      action: 'change the headers',
      description: 'Send Content-Type: application/json, without a content encoding.',
    },
  ]),
  HostNotAllowed: entry(421, -32600, false, 'This server does not answer for the host {host}.', [
    {
      action: 'localhost',
      description: 'Use 127.0.0.1 or localhost, or add the name to `allowed_hosts`.',
    },
  ]),
  OriginNotAllowed: entry(403, -32600, false, 'Requests from the origin {origin} are refused.', [
    { action: 'allowed_origins', description: 'An operator adds the origin to this setting.' },
  ]),
  TooManyFailures: entry(429, -32003, true, 'Too many failed logins from this address.', [
    { action: 'wait', description: 'Wait a minute. A valid token is accepted meanwhile.' },
  ]),
  LoginElsewhere: entry(403, -32600, false, 'Passwords are taken by the dashboard only.', [
    { action: 'dashboard', description: 'Log in there, or send a user token here.' },
  ]),
  TooManyLogins: entry(429, -32003, true, 'Too many passwords are being checked at once.', [
    { action: 'retry', description: 'Try again in a few seconds.' },
  ]),
  SetupLinkInvalid: entry(
    410,
    -32003,
    false,
    'This setup link does not hold: it was used or replaced, or is older than 30 minutes.',
    [{ action: 'gatehouse setup-link', description: 'Print a new one on the machine itself.' }],
  ),
  WeakPassword: entry(400, -32602, false, 'This password cannot be used: {detail}', [
    { action: 'change the password', description: 'Choose one that meets what the message names.' },
  ]),
  OperatorNotFound: entry(404, -32602, false, 'There is no operator {name}.', [
    { action: 'operator list', description: 'See which operators there are.' },
  ]),
  // Approvals
  ApprovalRequired: entry(202, -32002, false, '{capability} waits for a person to approve it.', [
    {
      action: 'approvals.wait',
      description: 'Wait for the decision with the approval_id, or make the same call again later.',
    },
  ]),
  ApprovalNotFound: entry(404, -32602, false, 'There is no approval {approval_id}.', [
    {
      action: 'approvals.list',
      description: 'List your approvals; those of other agents are not shown.',
    },
  ]),
  ApprovalNotPending: entry(409, -32602, false, 'Approval {approval_id} is already {status}.', [
    { action: 'approvals.get', description: "Read what was decided; it can't be changed." },
  ]),
  ApprovalDigestMismatch: entry(
    409,
    -32602,
    false,
    'The digest sent is not the digest of {approval_id}: what you saw is not what would run.',
    [
      {
        action: 'approvals show',
        description: 'Look at the request again and decide on what it shows.',
      },
    ],
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
    { action: 'grants list', description: 'See which standing grants there are.' },
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
      description: 'Make the call again; it is shown to a person as it now stands.',
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
        description: 'Look whether the effect is there before asking for it again.',
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
        description: 'Look whether the effect is there before you make the call again.',
      },
    ],
  ),
  // Agents, sessions, tokens
  AgentNotFound: entry(404, -32602, false, 'There is no agent {agent}.', [
    { action: 'check the name', description: 'Use the name of an agent that exists.' },
  ]),
  AgentExists: entry(409, -32602, false, 'There is already an agent {agent}.', [
    {
      action: 'choose another name',
      description: 'Names are unique, also those of revoked agents.',
    },
  ]),
  AgentStateConflict: entry(409, -32602, false, 'Agent {agent} is {status}: {detail}', [
    { action: 'agent show', description: 'See the state of the agent first.' },
  ]),
  SessionNotFound: entry(
    404,
    -32602,
    false,
    'There is no open session {session_id} of this agent.',
    [
      {
        action: 'begin a session',
        description: 'Open a new session, or make the call without one.',
      },
    ],
  ),
  UserTokenNotFound: entry(404, -32602, false, 'There is no user token {id}.', [
    { action: 'user-token list', description: 'See which tokens there are.' },
  ]),
  NotFound: entry(404, -32602, false, 'There is nothing at {path}.', [
    {
      action: 'check the address',
      description: 'The API description at /api/openapi.json lists every path.',
    },
  ]),
  // Filesystem
  PathOutOfScope: entry(403, null, false, '{path} is outside the folders of this agent.', [
    stayInside,
  ]),
  PathNotPermitted: entry(
    403,
    null,
    false,
    'Policy does not let this call touch {path}: {detail}.',
    [{ action: 'agent.policy', description: 'See which rules apply to you.' }],
  ),
  FileNotFound: entry(404, null, false, 'There is no file at {path}.', [listFolder]),
  FolderNotFound: entry(404, null, false, 'There is no folder {folder} to put {path} in.', [
    { action: 'filesystem.mkdir', description: 'Make the folder first.' },
  ]),
  NotADirectory: entry(409, null, false, '{path} is not a folder.', [statPath]),
  NotARegularFile: entry(409, null, false, '{path} is not a regular file.', [statPath]),
  IsADirectory: entry(409, null, false, '{path} is a folder.', [listFolder]),
  AlreadyExists: entry(409, null, false, 'There is already something at {path}.', [
    { action: 'overwrite', description: 'Set overwrite to true, or choose another destination.' },
  ]),
  DirectoryNotEmpty: entry(409, null, false, 'The folder {path} is not empty.', [
    { action: 'recursive', description: 'Set recursive to true to delete it with what it holds.' },
  ]),
  ReadOnlyRoot: entry(403, null, false, '{path} lies in a folder given read-only.', [stayInside]),
  ProtectedPath: entry(403, null, false, '{path} is protected: {detail}', [
    {
      action: 'choose another path',
      description: 'The service keeps this path for itself. Use another one inside your folders.',
    },
  ]),
  FileChanged: entry(409, null, false, '{path} has changed: its sha256 is {sha256}.', [
    {
      action: 'filesystem.read',
      description: 'Read it again and base the change on what it holds now.',
    },
  ]),
  FileTooLarge: entry(
    413,
    null,
    false,
    '{path} has {size_bytes} bytes; at most {limit_bytes} fit.',
    [{ action: 'range', description: 'Read it in ranges with offset and limit.' }],
  ),
  InvalidPath: entry(400, null, false, 'The path is not usable: {detail}', [
    {
      action: 'fix the path',
      description:
        'Correct what the message names. Paths are absolute inside your folders, or relative to your workspace.',
    },
  ]),
  InvalidPattern: entry(400, null, false, 'The pattern is not usable: {detail}', [
    {
      action: 'fix the pattern',
      description:
        'Correct what the message names. Regular expressions have RE2 syntax, without look-around.',
    },
  ]),
  InvalidEncoding: entry(422, null, false, '{path} is not {encoding}: {detail}', [
    { action: 'filesystem.read', description: 'Read it with encoding base64 or latin1.' },
  ]),
  DigestMismatch: entry(
    422,
    null,
    false,
    'What arrived for {path} has the sha256 {sha256}, not {expected}; it was not kept.',
    [
      {
        action: 'sha256',
        description: 'Check the address and the sha256 with whoever published them.',
      },
    ],
  ),
  EditMismatch: entry(409, null, false, 'Expected {expected} replacements, found {found}.', [
    { action: 'dry_run', description: 'Set dry_run to true to see every place that would change.' },
  ]),
  TooManyLinks: entry(
    403,
    null,
    false,
    '{path} has more than one hard link, which this folder refuses.',
    [
      {
        action: 'filesystem.copy',
        description: 'Copy the file under another name and use the copy.',
      },
    ],
  ),
  PermissionRefused: entry(
    403,
    null,
    false,
    'The operating system does not let the service touch {path}.',
    [
      {
        action: 'ask an operator',
        description: 'They change the rights of the file, or give you another folder.',
      },
    ],
  ),
  StorageFull: entry(507, null, true, 'There is no room left for {path}.', [
    {
      action: 'free space',
      description: 'Delete what is no longer needed, or ask an operator for more room.',
    },
  ]),
  TrashNotFound: entry(404, null, false, 'There is nothing in the trash under {trash_id}.', [
    {
      action: 'check the trash_id',
      description: 'Use the trash_id that filesystem.delete returned, within 7 days.',
    },
  ]),
  WatchNotFound: entry(404, null, false, 'There is no watch {watch_id}.', [
    {
      action: 'filesystem.watch',
      description: 'Set a new watch; watches end with the service and with your agent.',
    },
  ]),
  // State and alerts
  InvalidKey: entry(400, null, false, 'The key is not usable: {detail}', [
    { action: 'key', description: 'Use 1 to 512 characters without control characters.' },
  ]),
  StateNotFound: entry(404, null, false, 'There is nothing under the key {key}.', [
    { action: 'list', description: 'List the keys to see what is there.' },
  ]),
  VersionConflict: entry(
    409,
    null,
    false,
    'The key {key} is at version {version}, not {expected}; it was changed at {updated_at} by {updated_by}.',
    [
      {
        action: 'get',
        description: 'Read the key again, and base the change on the version it has now.',
      },
    ],
  ),
  ValueTooLarge: entry(
    413,
    null,
    false,
    'The value has {size_bytes} bytes as JSON; at most {limit_bytes} fit.',
    [{ action: 'split', description: 'Spread it over several keys, or keep it in a file.' }],
  ),
  StateQuotaExceeded: entry(
    507,
    null,
    false,
    'This would take {size_bytes} bytes in all; at most {limit_bytes} fit.',
    [{ action: 'delete', description: 'Delete keys that are no longer needed.' }],
  ),
  NoSession: entry(409, null, false, 'This call belongs to no session: {detail}', [
    {
      action: 'state.set',
      description: 'Use state.set, which needs no session, or make the call in a session.',
    },
  ]),
  AlertNotFound: entry(404, null, false, 'There is no alert {alert_id}.', [
    {
      action: 'alerts.list',
      description: 'List your alerts; those of others are not yours to close.',
    },
  ]),
  QuotaExceeded: entry(429, null, false, 'At most {limit} {what} are allowed.', [
    { action: 'make room', description: 'End or delete what you no longer need, then call again.' },
  ]),
  // Time and messages
  InvalidSchedule: entry(400, null, false, 'The schedule is not usable: {detail}', [
    {
      action: 'fix the time',
      description: 'Five cron fields such as "0 9 * * 1-5", a run_at in the future, or a delay.',
    },
  ]),
  ScheduleNotFound: entry(404, null, false, 'There is no schedule {schedule_id}.', [
    { action: 'scheduler.list', description: 'List the schedules there are.' },
  ]),
  SubscriptionNotFound: entry(404, null, false, 'There is no subscription {subscription_id}.', [
    {
      action: 'comms.subscribe',
      description: 'Subscribe anew; the answer names the subscription.',
    },
  ]),
  MessageTooLarge: entry(
    413,
    null,
    false,
    'The message has {size_bytes} bytes; at most {limit_bytes} fit.',
    [{ action: 'shorten', description: 'Put the content into a file or state and send its name.' }],
  ),
  MailboxFull: entry(429, null, true, 'Agent {agent} has {limit} messages waiting already.', [
    { action: 'wait', description: 'Its messages leave as it receives them, or expire.' },
  ]),
  // Services behind the proxy
  ServiceNotFound: entry(404, null, false, 'There is no service {service} that {agent} may use.', [
    {
      action: 'ask an operator',
      description: 'They connect it with `gatehouse proxy connect` and name you in `--agents`.',
    },
  ]),
  ServiceAmbiguous: entry(400, null, false, 'There are several services: {services}.', [
    { action: 'service', description: 'Name the one that is meant in the argument `service`.' },
  ]),
  ServiceKindNotFound: entry(404, -32602, false, 'There is no kind of service called {kind}.', [
    { action: 'proxy connect', description: 'The kinds there are: `gatehouse proxy kinds`.' },
  ]),
  ServiceSettingsInvalid: entry(400, -32602, false, 'The service cannot be set up so: {detail}', [
    { action: 'fix the settings', description: 'Correct what the message names.' },
  ]),
  ServiceConnectionFailed: entry(422, -32602, false, 'The connection does not work: {detail}', [
    { action: 'fix and repeat', description: 'Each check says what was found and what to do.' },
  ]),
  ServiceUnavailable: entry(503, null, true, 'The service {service} cannot be used now: {detail}', [
    { action: 'wait', description: 'Reads go on from the replica; it is tried again by itself.' },
  ]),
  PartNotFound: entry(404, null, false, 'There is no part {part} of {id} at {service}.', [
    { action: 'read', description: 'Read the entry again to see which parts it has.' },
  ]),
  MailNotFound: entry(404, null, false, 'There is no message {message_id} in the mailbox.', [
    { action: 'email.search', description: 'Search for it again: it may have been moved.' },
  ]),
  MailAmbiguous: entry(409, null, false, 'There are copies of {message_id} in {folders}.', [
    {
      action: 'email.search',
      description: 'Search in one of these folders, and use the message_id that is told there.',
    },
  ]),
  MailFolderNotFound: entry(404, null, false, 'There is no mail folder {folder}.', [
    { action: 'email.folders', description: 'List the folders there are.' },
  ]),
  MailRefused: entry(422, null, false, 'This cannot be done with mail: {detail}', [
    { action: 'change it', description: 'Change what the reason names and make the call again.' },
  ]),
  InvalidRecipient: entry(400, null, false, 'Mail cannot be sent to {address}: {detail}', [
    { action: 'change it', description: 'Give plain addresses such as ben@example.net.' },
  ]),
  InvalidHeader: entry(400, null, false, 'The header {header} cannot be sent: {detail}', [
    { action: 'change it', description: 'Give one line of plain text.' },
  ]),
  EventNotFound: entry(404, null, false, 'There is no event {event_id} in the calendars.', [
    { action: 'calendar.search', description: 'Search for it again: it may have been deleted.' },
  ]),
  EventChanged: entry(
    409,
    null,
    false,
    'The event {event_id} has changed: its version is {version} now, not {expected}.',
    [
      {
        action: 'calendar.read',
        description: 'Read it again, decide anew, and give the new version.',
      },
    ],
  ),
  CalendarNotFound: entry(404, null, false, 'There is no calendar {calendar}.', [
    { action: 'calendar.calendars', description: 'List the calendars there are.' },
  ]),
  CalendarRefused: entry(422, null, false, 'This cannot be done with calendars: {detail}', [
    { action: 'change it', description: 'Change what the reason names and make the call again.' },
  ]),
  WriteNotFound: entry(404, null, false, 'There is no buffered write {write_id}.', [
    { action: 'writes.list', description: 'List your writes to see which there are.' },
  ]),
  WriteNotBuffered: entry(409, null, false, 'The status of {write_id} is {status}: {detail}.', [
    { action: 'writes.rollback', description: 'Undo it, where that is possible after it ran.' },
  ]),
  WriteNotDead: entry(
    409,
    -32602,
    false,
    'The status of {write_id} is {status}: there is nothing to decide.',
    [
      {
        action: 'proxy writes',
        description: 'See the status of the write; only a dead letter is decided.',
      },
    ],
  ),
  WriteRefused: entry(422, null, false, 'The service did not take it: {detail}', [
    { action: 'change it', description: 'Change what the reason names and make the call again.' },
  ]),
  WriteGivenUp: entry(
    503,
    null,
    false,
    'After {attempts} attempts nothing was done, the last time because {detail}',
    [{ action: 'proxy retry', description: 'An operator sends it again, or discards it.' }],
  ),
  RollbackNotFound: entry(404, null, false, 'There is no point to go back to: {detail}', [
    { action: 'writes.list', description: 'See until when a write can be undone.' },
  ]),
  NotUndoable: entry(409, null, false, 'This write cannot be undone: {detail}', [
    {
      action: 'writes.list',
      description:
        'See what can still be undone, and until when. Correct the rest with a new write.',
    },
  ]),
  RollbackNotReady: entry(409, null, false, 'The rollback point {rollback_id} is {status}.', [
    {
      action: 'wait',
      description:
        'See its status with `gatehouse proxy rollbacks`, and try again when it is ready.',
    },
  ]),
  RollbackRefused: entry(409, null, false, 'It cannot be undone as things stand: {detail}', [
    {
      action: 'look',
      description: 'Others changed what the write left. Change it by hand, or undo theirs first.',
    },
  ]),
  // Secrets
  SecretNotFound: entry(404, -32602, false, 'There is no secret {name}.', [
    { action: 'vault list', description: 'See which secrets there are.' },
  ]),
  SecretExists: entry(409, -32602, false, 'There is already a secret {name}.', [
    { action: 'vault rotate', description: 'Give the one there is a new value.' },
  ]),
  SecretNotAllowed: entry(
    403,
    null,
    false,
    'No secret {name} may be used by {agent} with {capability} for {host}.',
    [
      {
        action: 'secrets.list',
        description:
          'See which secrets you may use, with which capability and host; an operator changes the scope.',
      },
    ],
  ),
  SecretRefused: entry(400, -32602, false, 'The value of {name} cannot be kept: {detail}', [
    { action: 'change the value', description: 'Give a value that meets what the message names.' },
  ]),
  VaultLocked: entry(503, null, true, 'The vault is locked, so no secret can be used: {detail}', [
    {
      action: 'vault unlock',
      description: 'An operator unlocks it. What needs no secret works meanwhile.',
    },
  ]),
  VaultTampered: entry(
    500,
    null,
    false,
    'What is stored of {what} is not what the vault wrote, so it is not used.',
    [
      {
        action: 'vault delete',
        description:
          'An operator finds out who else can write to the database, deletes the secret and adds it again.',
      },
    ],
  ),
  WrongPassphrase: entry(403, -32602, false, 'This is not the passphrase of the vault.', [
    {
      action: 'vault unlock',
      description: 'Try again with the right passphrase; nobody can recover it.',
    },
  ]),
  VaultConflict: entry(409, -32602, false, 'The vault is {status}: {detail}', [
    { action: 'vault status', description: 'See the state of the vault first.' },
  ]),
  // Git
  NotARepository: entry(404, null, false, 'There is no git repository at {path}: {detail}', [
    {
      action: 'path',
      description: 'Give the root folder of a repository, or make one with git.init or git.clone.',
    },
  ]),
  UnsafeRepository: entry(
    403,
    null,
    false,
    'Git is not run on {path}, because it could be led elsewhere: {detail}',
    [
      {
        action: 'git.clone',
        description:
          'Clone it anew into your workspace: a plain repository with its own .git folder works.',
      },
    ],
  ),
  UnsafeRepoConfig: entry(
    403,
    null,
    false,
    'Git is not run on {path}, because its configuration sets {key}, which is not on the list of harmless settings.',
    [
      {
        action: 'remove the setting',
        description:
          'Remove it from .git/config, or let an operator allow the key with the setting git.config_allowed.',
      },
    ],
  ),
  RepoLocked: entry(
    409,
    null,
    true,
    'The repository at {path} is locked by {lock}, which is {age_seconds} s old.',
    [
      {
        action: 'retry',
        description: 'Another git may be at work: wait some seconds and try again.',
      },
      {
        action: 'remove the lock',
        description:
          'If no git runs there any more, a person (or a process.run that one approved) deletes the lock file; nothing else does.',
      },
    ],
  ),
  InvalidRef: entry(400, null, false, '{ref} is not a usable commit or branch: {detail}', [
    {
      action: 'git.branch',
      description: 'List the branches, or find the commit with git.log.',
    },
  ]),
  NothingToCommit: entry(409, null, false, 'There is nothing to commit: {detail}', [
    { action: 'git.status', description: 'See what has changed and what is ignored.' },
  ]),
  GitRefused: entry(409, null, false, 'Git does not do this here: {detail}', [
    {
      action: 'git.status',
      description: 'See the state of the repository, and change what the message names first.',
    },
  ]),
  RemoteRefused: entry(502, null, false, 'The remote {host} did not take part: {detail}', [
    {
      action: 'secret',
      description:
        'Check the address. For a repository that needs a login, name a secret that secrets.list shows.',
    },
  ]),
  PushRejected: entry(409, null, false, 'The remote did not accept {branch}: {detail}', [
    {
      action: 'git.pull',
      description: 'Pull what the remote has, settle conflicts, and push again.',
    },
  ]),
  GitFailed: entry(500, null, false, 'Git ended with an error: {detail}', [
    { action: 'git.status', description: 'See the state of the repository.' },
  ]),
  // The network
  HostUnreachable: entry(502, null, true, 'The host {host} cannot be reached from here.', [
    {
      action: 'check the host',
      description:
        'Look at its name and port. Addresses inside the operator’s network are reached only where the operator listed them.',
    },
  ]),
  UrlNotAllowed: entry(400, null, false, 'This address is not allowed: {detail}', [
    { action: 'fix the address', description: 'Correct what the message names and call again.' },
  ]),
  RequestNotAllowed: entry(400, null, false, 'This request is not allowed: {detail}', [
    { action: 'fix the request', description: 'Correct what the message names and call again.' },
  ]),
  RedirectRefused: entry(502, null, false, 'The redirect was not followed: {detail}', [
    {
      action: 'follow_redirects',
      description:
        'Set follow_redirects to false to see where it leads, then ask for that address itself.',
    },
  ]),
  ResponseRefused: entry(502, null, false, 'The answer of {host} cannot be used: {detail}', [
    {
      action: 'accept-encoding',
      description: 'Send the header accept-encoding: identity, or ask whoever runs the host.',
    },
  ]),
  ResponseTooLarge: entry(502, null, false, 'The answer has more than {limit_bytes} bytes.', [
    {
      action: 'network.download',
      description: 'Ask for less, or download it into a file with a higher max_bytes.',
    },
  ]),
  TimedOut: entry(504, null, true, 'There was no whole answer within {timeout_seconds} s.', [
    { action: 'retry', description: 'Try again, or allow more time with timeout_seconds.' },
  ]),
  TlsFailed: entry(502, null, false, 'No safe connection to {host} was possible: {detail}', [
    {
      action: 'outbound.ca_file',
      description:
        'If the host is one of the operator’s own, the operator can name its authority in this setting.',
    },
  ]),
  // Programs in the sandbox
  SandboxUnavailable: entry(503, null, false, 'No sandbox holds here, so nothing runs: {reason}', [
    {
      action: 'gatehouse setup sandbox',
      description: 'An operator runs it on the machine: it says what to install or allow.',
    },
  ]),
  SandboxRefused: entry(500, null, false, 'The sandbox cannot be made as asked for: {detail}', [
    {
      action: 'change the call',
      description: 'Leave out what the message names, or ask an operator.',
    },
  ]),
  SandboxFailed: entry(500, null, true, 'The sandbox did not come up: {detail}', [
    { action: 'gatehouse doctor', description: 'An operator runs it: it tries the sandbox anew.' },
  ]),
  ProgramNotFound: entry(404, null, false, 'There is no program {program} that can be run.', [
    {
      action: 'name another',
      description: 'Use a program of the system by its plain name, or a path inside your folders.',
    },
  ]),
  // Models
  ModelNotFound: entry(404, null, false, 'There is no model {id}.', [
    { action: 'gatehouse models list', description: 'See which models there are.' },
  ]),
  ModelNotInstalled: entry(409, null, false, 'The model {id} is not installed: {detail}', [
    { action: 'gatehouse models install', description: 'An operator installs it first.' },
  ]),
  ModelBusy: entry(409, null, true, 'The model {id} is being installed.', [
    { action: 'gatehouse models cancel', description: 'Cancel the installation, or wait for it.' },
  ]),
  JobNotFound: entry(404, null, false, 'There is no job {job_id}.', [
    {
      action: 'models list',
      description: 'See the state of the model; finished jobs are deleted after a while.',
    },
  ]),
  NotEnoughDisk: entry(
    507,
    null,
    true,
    'Installing {id} takes {needed_bytes} more bytes, and {free_bytes} may be written on this disk.',
    [
      { action: 'free space', description: 'Remove other files or models, and install it again.' },
      { action: 'gatehouse models list', description: 'A smaller model may do.' },
    ],
  ),
  ModelSourceFailed: entry(502, null, true, 'The file of {id} cannot be fetched: {detail}', [
    {
      action: 'gatehouse models install',
      description: 'Install it again later; it goes on where it stopped.',
    },
    {
      action: 'models.mirrors',
      description: 'Name a mirror of the host, if this network has one.',
    },
  ]),
  ModelSizeMismatch: entry(
    502,
    null,
    false,
    'The file of {id} does not have the {size_bytes} bytes that its entry promises: {detail}',
    [{ action: 'report', description: 'Tell whoever maintains the catalog; do not use the file.' }],
  ),
  ModelHashMismatch: entry(
    502,
    null,
    false,
    'The file of {id} is not the one that was reviewed: its sha256 is {found}, not {expected}.',
    [
      {
        action: 'gatehouse models install',
        description:
          'Once more, in case the transfer was damaged; nothing of this file was kept in use.',
      },
      { action: 'report', description: 'If it happens again, tell whoever maintains the catalog.' },
    ],
  ),
  ModelHeaderRefused: entry(
    422,
    null,
    false,
    'The file of {id} is not a model that may be loaded: {detail}.',
    [
      {
        action: 'report',
        description: 'Tell whoever maintains the catalog; choose another model.',
      },
    ],
  ),
  CatalogUnavailable: entry(502, null, true, 'The catalog cannot be fetched: {detail}', [
    { action: 'retry', description: 'What was fetched before and the built-in models stay.' },
  ]),
  // The engine of models
  EngineNotInstalled: entry(503, null, false, 'The engine of local models is not ready: {reason}', [
    {
      action: 'gatehouse models setup',
      description: 'An operator installs it on the machine; it says what is missing.',
    },
  ]),
  EngineSetupFailed: entry(502, null, true, 'The engine could not be installed: {detail}', [
    { action: 'gatehouse models setup', description: 'Try again once the cause is gone.' },
  ]),
  EngineFailed: entry(503, null, true, 'The engine of local models ended: {detail}', [
    {
      action: 'retry',
      description: 'It starts anew by itself. With the same end again, use another model.',
    },
  ]),
  EngineBusy: entry(429, null, true, 'Already {waiting} requests to local models wait: {detail}', [
    { action: 'retry', description: 'Send fewer at once, and try again when some are answered.' },
  ]),
  ModelTooLarge: entry(
    507,
    null,
    true,
    'The model {id} needs about {needs_bytes} bytes of memory, and {available_bytes} are free.',
    [{ action: 'inference.models', description: 'Use a smaller model, or free some memory.' }],
  ),
  ModelQuarantined: entry(409, null, false, 'The model {id} is in quarantine: {reason}', [
    {
      action: 'gatehouse models release',
      description: 'An operator releases it once the cause is known. Until then use another model.',
    },
  ]),
  NoModelChosen: entry(409, null, false, 'No model is named, and none is used by default.', [
    { action: 'inference.models', description: 'Name one of the installed models as `model`.' },
    { action: 'gatehouse models default', description: 'An operator chooses a default.' },
  ]),
  PromptTooLong: entry(413, null, false, 'The prompt is too long for {model}: {detail}', [
    { action: 'shorten it', description: 'Leave out older messages, or send it in parts.' },
  ]),
  GenerationRefused: entry(400, null, false, 'The model {model} cannot do this: {detail}', [
    { action: 'change the request', description: 'Use a simpler json_schema, or none.' },
  ]),
  // Processes
  NotExecutable: entry(409, null, false, '{path} cannot be run: {detail}', [
    {
      action: 'name an interpreter',
      description: 'Run the interpreter and give the file as its first argument.',
    },
  ]),
  EnvironmentRefused: entry(400, null, false, 'The variable {name} cannot be set: {detail}', [
    {
      action: 'use an argument',
      description:
        'Leave the variable out. Say the same by an argument or in a file, or use a name of your own.',
    },
  ]),
  ProcessNotFound: entry(404, null, false, 'There is no process {process_id}.', [
    { action: 'process.list', description: 'See which processes there are.' },
  ]),
  ProcessNotRunning: entry(409, null, false, 'Process {process_id} is {state}.', [
    { action: 'process.monitor', description: 'See how it ended.' },
  ]),
  ProcessElsewhere: entry(409, null, false, 'Process {process_id} runs on the node {node}.', [
    { action: 'ask there', description: 'Make the call to that node.' },
  ]),
  // Running
  ResultTooLarge: entry(
    413,
    null,
    false,
    'The result has {size_bytes} bytes; at most {limit_bytes} fit.',
    [
      {
        action: 'range',
        description: 'Ask for less at once: a limit, a range, or a narrower query.',
      },
    ],
  ),
  DeadlineExceeded: entry(504, null, true, '{capability} did not finish in {timeout_seconds} s.', [
    {
      action: 'ask for less',
      description: 'Narrow the call, or allow more time where it has timeout_seconds.',
    },
  ]),
  Cancelled: entry(499, null, false, 'The call was cancelled.', [
    { action: 'repeat', description: 'Make the call again if it is still needed.' },
  ]),
  // The service itself
  AuditUnavailable: entry(
    503,
    -32603,
    true,
    'The audit log cannot be written, so nothing runs: {detail}',
    [
      {
        action: 'doctor',
        description: 'An operator runs `gatehouse doctor` and frees disk space.',
      },
    ],
  ),
  AuditDamaged: entry(
    500,
    -32603,
    false,
    'Entry {id} of the audit log is not what was written: {detail}',
    [
      { action: 'audit verify', description: 'An operator verifies the whole log.' },
      {
        action: 'audit acknowledge',
        description: 'Once the cause is known, an operator accepts the finding, with the reason.',
      },
    ],
  ),
  NotRecordable: entry(
    422,
    null,
    false,
    'This cannot be written to the audit log as it is, so it does not run: {detail}',
    [
      {
        action: 'change the arguments',
        description:
          'Leave out what the message names: text must be valid Unicode, numbers must be exact.',
      },
    ],
  ),
  PolicyInvalid: entry(422, -32602, false, '{file}:{line}:{column}: {detail}', [
    {
      action: 'fix the file',
      description: 'Correct the line that the message names; the last valid version stays active.',
    },
  ]),
  PolicyUnavailable: entry(
    503,
    -32603,
    true,
    'No valid policy is loaded, so nothing runs: {detail}',
    [
      {
        action: 'ask an operator',
        description:
          'They correct the policy files; `gatehouse policy validate` names what is wrong.',
      },
    ],
  ),
  StorageUnavailable: entry(503, -32603, true, 'The store cannot be used: {detail}', [
    { action: 'retry', description: 'Try again shortly; an operator runs `gatehouse doctor`.' },
  ]),
  NotificationTargetNotFound: entry(
    404,
    -32602,
    false,
    'No target of notifications is called {name}.',
    [{ action: 'notifications list', description: 'See which targets there are.' }],
  ),
  BackupRefused: entry(422, -32602, false, 'The backup cannot be used: {detail}', [
    {
      action: 'fix the backup',
      description: 'Use another file or passphrase, as the message says.',
    },
  ]),
  InvalidConfiguration: entry(400, -32603, false, '{origin}: {detail}', [
    {
      action: 'fix the setting',
      description: 'Correct the setting that the message names, in the place that it names.',
    },
  ]),
  AlreadyRunning: entry(409, -32603, false, '{holder} already uses the data in {data_dir}.', [
    { action: 'gatehouse status', description: 'Show what the running server does.' },
    { action: '--data-dir DIR', description: 'Begin another Gatehouse beside it.' },
  ]),
  PortUnavailable: entry(
    409,
    -32603,
    true,
    'Port {port} of {host}, for {surface}, cannot be used: {detail}',
    [{ action: 'choose another', description: 'Give the listener another port or address.' }],
  ),
  StoreMismatch: entry(409, -32603, false, 'Nothing was opened: {detail}.', [
    {
      action: '--data-dir DIR',
      description: 'Name the data directory of this store, or correct database_url.',
    },
  ]),
  DataTooNew: entry(
    409,
    -32603,
    false,
    'The data in {data_dir} was written by Gatehouse {written_by}, in a form that this older version does not know. Nothing was changed.',
    [
      { action: 'upgrade', description: 'Run the version that wrote it, or a newer one.' },
      {
        action: 'gatehouse restore',
        description: 'Restore a backup of before the upgrade into a new directory.',
      },
    ],
  ),
  Conflict: entry(409, -32602, false, '{detail}', [
    { action: 'retry', description: 'Look at the current state and try again.' },
  ]),
  InternalError: entry(
    500,
    -32603,
    true,
    'Something went wrong on our side; the log has it under {correlation_id}.',
    [{ action: 'retry', description: 'Try again; if it fails again, give the id to an operator.' }],
  ),
} as const satisfies Record<string, ErrorEntry>

export type ErrorType = keyof typeof errorTable
export type Facts = Readonly<Record<string, unknown>>

const fill = (say: string, facts: Facts): string =>
  say.replace(/\{(\w+)\}/g, (whole, name: string) => {
    const fact = facts[name]
    return fact === undefined ? whole : typeof fact === 'string' ? fact : JSON.stringify(fact)
  })

/** Facts that clients act on and no sentence names. */
const factsOfAll = [
  'correlation_id',
  'current',
  'limit',
  'member',
  'pointer',
  'reason',
  'requested',
  'retry_after_seconds',
  'supported',
  'window',
]

/** The facts that may leave the process beside the sentence: those it names, and the few above. */
export const declaredFacts = ({ type, facts }: GatehouseError): Facts =>
  Object.fromEntries(
    Object.entries(facts).filter(
      ([name]) =>
        name !== 'detail' &&
        (factsOfAll.includes(name) || errorTable[type].say.includes(`{${name}}`)),
    ),
  )

/**
 * Something went wrong, with a type from the table and facts for its sentence. Only the sentence,
 * the facts that the table declares and `recovery` leave the process; `cause` is for the log.
 */
export class GatehouseError extends Error {
  readonly type: ErrorType
  readonly facts: Facts
  readonly recovery: readonly Recovery[]

  constructor(
    type: ErrorType,
    facts: Facts = {},
    options: { readonly cause?: unknown; readonly recovery?: readonly Recovery[] } = {},
  ) {
    super(
      fill(errorTable[type].say, facts),
      options.cause === undefined ? {} : { cause: options.cause },
    )
    this.name = 'GatehouseError'
    this.type = type
    this.facts = facts
    this.recovery = options.recovery ?? errorTable[type].recovery
  }

  get entry(): ErrorEntry {
    return errorTable[this.type]
  }
}
