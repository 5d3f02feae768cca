import { ProcessState } from '@gatehouse/contract'
import { z } from 'zod'
import { pathArguments } from '../path-argument.ts'

export const version = '1.0'

/** Text that is handed to the system as it is, which would cut it off at a NUL. */
export const textField = (what: string, max: number) =>
  z
    .string()
    .max(max)
    .refine((text) => !text.includes('\0'), `${what} must not hold a NUL`)

export const folderField = z
  .string()
  .min(1)
  .max(4096)
  .register(pathArguments, {})
  .default('.')
  .describe('The folder to run in.')

export const processIdField = z
  .string()
  .min(1)
  .max(64)
  .describe('The id from the call that started it')

export const stateField = ProcessState.describe(
  'Its state. One that completed ended by itself, one that was killed by a signal, one that was interrupted with the service.',
)

/** A process as the agent that started it sees it. */
export const processFields = {
  process_id: z.string(),
  command: z.string(),
  args: z.array(z.string()),
  working_directory: z.string(),
  background: z.boolean().describe('Whether it goes on after the call that started it.'),
  state: stateField,
  exit_code: z.int().nullable(),
  signal: z.string().nullable().describe('The signal that ended it.'),
  sandbox: z.string().describe('Sandbox backend that runs the program.'),
  network: z.array(z.string()).describe('Hosts that it may reach.'),
  started_at: z.string(),
  ended_at: z.string().nullable(),
  stdout_bytes: z.int().describe('Bytes written by the program, kept or not.'),
  stderr_bytes: z.int(),
  cpu_ms: z.int().nullable().describe('Processor time, once it ended.'),
  memory_bytes_max: z
    .int()
    .nullable()
    .describe('Most memory that one process of it held, once it ended.'),
  detail: z.string().nullable().describe('Why it ended, where that was not its own doing.'),
}
