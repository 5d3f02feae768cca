import { type ErrorEntry, entry } from './error-entry.ts'

/** Processes. */
export const processesErrors = {
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
        'Leave the variable out. Pass the value as an argument or in a file, or use another name.',
    },
  ]),
  ProcessNotFound: entry(
    404,
    null,
    false,
    'There is no process {process_id}.',
    [{ action: 'process.list', description: 'List your processes.' }],
    [{ action: 'gatehouse processes list', description: 'See which processes there are.' }],
  ),
  ProcessNotRunning: entry(
    409,
    null,
    false,
    'Process {process_id} is {state}.',
    [{ action: 'process.monitor', description: 'See how it ended.' }],
    [{ action: 'gatehouse processes show', description: 'See how it ended.' }],
  ),
  ProcessElsewhere: entry(409, null, false, 'Process {process_id} runs on the node {node}.', [
    { action: 'ask there', description: 'Send the call to that node.' },
  ]),
} as const satisfies Record<string, ErrorEntry>
