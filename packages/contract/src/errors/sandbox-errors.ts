import { type ErrorEntry, entry } from './error-entry.ts'

/** Programs in the sandbox. */
export const sandboxErrors = {
  SandboxUnavailable: entry(503, null, false, 'No sandbox works here, so nothing runs: {reason}', [
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
    { action: 'gatehouse doctor', description: 'An operator runs it: it tests the sandbox again.' },
  ]),
  ProgramNotFound: entry(404, null, false, 'There is no program {program} that may run.', [
    {
      action: 'name another',
      description: 'Use a program of the system by its plain name, or a path inside your folders.',
    },
  ]),
} as const satisfies Record<string, ErrorEntry>
