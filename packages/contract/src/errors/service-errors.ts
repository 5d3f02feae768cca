import { type ErrorEntry, entry } from './error-entry.ts'

/** The service itself. */
export const serviceErrors = {
  AuditUnavailable: entry(
    503,
    -32603,
    true,
    'The audit log cannot be written, so nothing runs: {detail}',
    [
      {
        action: 'gatehouse doctor',
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
      { action: 'gatehouse audit verify', description: 'An operator verifies the whole log.' },
      {
        action: 'gatehouse audit acknowledge',
        description: 'Once the cause is known, an operator accepts the finding, with the reason.',
      },
    ],
  ),
  EntryNotListed: entry(
    404,
    -32602,
    false,
    'Entry {id} is not among those that are listed: {detail}',
    [{ action: 'gatehouse audit export', description: 'An export has all entries.' }],
  ),
  ExportFailed: entry(502, null, true, 'The audit log did not get to its target: {detail}', [
    {
      action: 'gatehouse audit targets',
      description:
        'An operator checks `gatehouse audit targets` and tests one with `gatehouse audit test`.',
    },
  ]),
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
  PolicyChanged: entry(
    412,
    -32602,
    false,
    'The policy file {file} was changed by somebody else; its version is {version} now.',
    [
      {
        action: 'gatehouse policy show',
        description: 'Read the file again, and save it with the version of that answer.',
      },
    ],
  ),
  PolicyUnavailable: entry(
    503,
    -32603,
    true,
    'No valid policy is loaded, so nothing runs: {detail}',
    [
      {
        action: 'ask an operator',
        description:
          'An operator corrects the policy files; `gatehouse policy validate` names the errors.',
      },
    ],
  ),
  StorageUnavailable: entry(503, -32603, true, 'The store cannot be used: {detail}', [
    { action: 'retry', description: 'Try again shortly; an operator runs `gatehouse doctor`.' },
  ]),
  StoreDamaged: entry(500, -32603, false, 'The store is damaged: {place} cannot be read.', [
    {
      action: 'restore a backup',
      description: 'An operator looks for the cause (`gatehouse doctor`) and restores a backup.',
    },
  ]),
  NotificationTargetNotFound: entry(
    404,
    -32602,
    false,
    'No target of notifications is called {name}.',
    [{ action: 'gatehouse notifications list', description: 'See which targets there are.' }],
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
      description: 'Correct the setting that the message names.',
    },
  ]),
  AlreadyRunning: entry(409, -32603, false, '{holder} already uses the data in {data_dir}.', [
    { action: 'gatehouse status', description: 'Show what the running server does.' },
    { action: '--data-dir DIR', description: 'Use another data directory for a second Gatehouse.' },
  ]),
  PortUnavailable: entry(
    409,
    -32603,
    true,
    'Port {port} of {host}, for {surface}, cannot be used: {detail}',
    [{ action: 'choose another', description: 'Give the listener another port or address.' }],
  ),
  StoreMismatch: entry(409, -32603, false, 'The store was not opened: {detail}.', [
    {
      action: '--data-dir DIR',
      description: 'Name the data directory of this store, or correct database_url.',
    },
  ]),
  MoveRefused: entry(409, -32603, false, 'Nothing was moved: {detail}.', [
    {
      action: 'gatehouse migrate --dry-run',
      description: 'Correct what the message names, and see what would be moved.',
    },
  ]),
  NodeUnfit: entry(409, -32603, false, 'This node does not serve: {detail}.', [
    {
      action: 'mend what differs',
      description: 'Correct what the message names, and start again.',
    },
  ]),
  NodeInviteInvalid: entry(
    410,
    -32003,
    false,
    'This invitation is not valid: it was used or replaced, or is older than 10 minutes.',
    [{ action: 'gatehouse nodes invite', description: 'Create a new one on a running node.' }],
  ),
  NodeNotFound: entry(404, -32602, false, 'There is no node {name}.', [
    { action: 'gatehouse nodes list', description: 'See which nodes there are.' },
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
        description: 'Restore a backup from before the upgrade into a new directory.',
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
    'Gatehouse failed; its log has the cause under {correlation_id}.',
    [{ action: 'retry', description: 'Try again; if it fails again, give the id to an operator.' }],
  ),
} as const satisfies Record<string, ErrorEntry>
