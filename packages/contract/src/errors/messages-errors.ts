import { type ErrorEntry, entry } from './error-entry.ts'

/** Time and messages. */
export const messagesErrors = {
  InvalidSchedule: entry(400, null, false, 'The schedule is not usable: {detail}', [
    {
      action: 'fix the time',
      description:
        'Use five cron fields such as "0 9 * * 1-5", a run_at in the future, or a delay.',
    },
  ]),
  ScheduleNotFound: entry(
    404,
    null,
    false,
    'There is no schedule {schedule_id}.',
    [{ action: 'scheduler.list', description: 'List the schedules there are.' }],
    [{ action: 'gatehouse schedules list', description: 'See which schedules there are.' }],
  ),
  SubscriptionNotFound: entry(404, null, false, 'There is no subscription {subscription_id}.', [
    {
      action: 'comms.subscribe',
      description: 'Subscribe again; the answer has the new subscription id.',
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
    {
      action: 'wait',
      description: 'Messages leave the mailbox when the agent receives them or when they expire.',
    },
  ]),
} as const satisfies Record<string, ErrorEntry>
