import { type ErrorEntry, entry } from './error-entry.ts'

/** Running. */
export const runningErrors = {
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
} as const satisfies Record<string, ErrorEntry>
