import { type ErrorEntry, entry } from './error-entry.ts'

/** State and alerts. */
export const stateErrors = {
  InvalidKey: entry(400, null, false, 'The key is not usable: {detail}', [
    { action: 'key', description: 'Use 1 to 512 characters without control characters.' },
  ]),
  StateNotFound: entry(404, null, false, 'The key {key} does not exist.', [
    { action: 'list', description: 'List the keys to see what is there.' },
  ]),
  VersionConflict: entry(
    409,
    null,
    false,
    'The key {key} is at version {version}, not {expected}: {history}.',
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
  AlertNotFound: entry(
    404,
    null,
    false,
    'There is no alert {alert_id}.',
    [
      {
        action: 'alerts.list',
        description: 'List your alerts; those of others are not yours to close.',
      },
    ],
    [{ action: 'gatehouse alerts list', description: 'See which alerts there are.' }],
  ),
  QuotaExceeded: entry(429, null, false, 'At most {limit} {what} are allowed.', [
    { action: 'make room', description: 'End or delete what you no longer need, then call again.' },
  ]),
} as const satisfies Record<string, ErrorEntry>
