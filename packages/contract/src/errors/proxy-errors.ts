import { type ErrorEntry, entry } from './error-entry.ts'

/** Services behind the proxy. */
export const proxyErrors = {
  ServiceNotFound: entry(404, null, false, 'There is no service {service} that {agent} may use.', [
    {
      action: 'ask an operator',
      description:
        'An operator connects the service with `gatehouse proxy connect` and names you in `--agents`.',
    },
  ]),
  ServiceAmbiguous: entry(400, null, false, 'There are several services: {services}.', [
    { action: 'service', description: 'Name the service in the argument `service`.' },
  ]),
  ServiceKindNotFound: entry(404, -32602, false, 'There is no kind of service called {kind}.', [
    {
      action: 'gatehouse proxy connect',
      description: 'The kinds there are: `gatehouse proxy kinds`.',
    },
  ]),
  ServiceSettingsInvalid: entry(
    400,
    -32602,
    false,
    'The service cannot be set up like this: {detail}',
    [{ action: 'fix the settings', description: 'Correct what the message names.' }],
  ),
  ServiceConnectionFailed: entry(422, -32602, false, 'The connection does not work: {detail}', [
    { action: 'fix and repeat', description: 'Each check says what was found and what to do.' },
  ]),
  ServiceUnavailable: entry(503, null, true, 'The service {service} cannot be used now: {detail}', [
    {
      action: 'wait',
      description: 'Reads still work from the replica; the service retries by itself.',
    },
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
      description: 'Search in one of these folders, and use the message_id from the answer.',
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
  WriteNotFound: entry(
    404,
    null,
    false,
    'There is no buffered write {write_id}.',
    [{ action: 'writes.list', description: 'List your writes to see which there are.' }],
    [{ action: 'gatehouse proxy writes', description: 'See which writes there are.' }],
  ),
  WriteNotBuffered: entry(
    409,
    null,
    false,
    'The status of {write_id} is {status}: {detail}.',
    [{ action: 'writes.rollback', description: 'Undo it, where that is possible after it ran.' }],
    [
      {
        action: 'gatehouse proxy rollbacks',
        description: 'See whether it can be undone after it ran.',
      },
    ],
  ),
  WriteNotDead: entry(
    409,
    -32602,
    false,
    'The status of {write_id} is {status}: there is nothing to decide.',
    [
      {
        action: 'gatehouse proxy writes',
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
    [
      {
        action: 'gatehouse proxy retry',
        description: 'An operator sends it again, or discards it.',
      },
    ],
  ),
  RollbackNotFound: entry(
    404,
    null,
    false,
    'There is no rollback point: {detail}',
    [{ action: 'writes.list', description: 'See until when a write can be undone.' }],
    [
      {
        action: 'gatehouse proxy rollbacks',
        description: 'See which rollback points there are, and until when they can be used.',
      },
    ],
  ),
  NotUndoable: entry(
    409,
    null,
    false,
    'This write cannot be undone: {detail}',
    [
      {
        action: 'writes.list',
        description:
          'See what can still be undone, and until when. Correct the rest with a new write.',
      },
    ],
    [
      {
        action: 'gatehouse proxy rollbacks',
        description:
          'See what can still be undone, and until when. Correct the rest with a new write.',
      },
    ],
  ),
  RollbackNotReady: entry(409, null, false, 'The rollback point {rollback_id} is {status}.', [
    {
      action: 'wait',
      description:
        'See its status with `gatehouse proxy rollbacks`, and try again when it is ready.',
    },
  ]),
  RollbackRefused: entry(409, null, false, 'The write cannot be undone now: {detail}', [
    {
      action: 'look',
      description:
        'It was changed after the write. Change it by hand, or undo the later change first.',
    },
  ]),
} as const satisfies Record<string, ErrorEntry>
