import { z } from 'zod'
import { defineCapability } from '../define.ts'
import { folderField, stateField, textField, version } from './fields.ts'
import { processPreview } from './preview.ts'

const mebibyte = 1024 * 1024
/** The launcher, the end of all that runs, and what is recorded of it come on top of its own time. */
const aroundSeconds = 30

type Ran = {
  readonly process_id: string
  readonly state: string
  readonly exit_code: number | null
  readonly signal: string | null
  readonly stdout: string
  readonly stderr: string
  readonly truncated: boolean
}

const ending = ({ state, exit_code, signal, process_id }: Ran): string =>
  state === 'running'
    ? `[${process_id} is running]`
    : state === 'completed'
      ? `[exit ${exit_code}]`
      : `[${state}${signal ? ` by ${signal}` : ''}]`

/** As a terminal would show it; the end is told unless all went well. */
const asText = (ran: Ran): string =>
  [
    ran.stdout,
    ...(ran.stderr === '' ? [] : [`[stderr]\n${ran.stderr}`]),
    ...(ran.truncated ? ['[more was written than max_output_bytes]'] : []),
    ...(ran.state === 'completed' && ran.exit_code === 0 ? [] : [ending(ran)]),
  ]
    .filter((part) => part !== '')
    .map((part) => (part.endsWith('\n') ? part.slice(0, -1) : part))
    .join('\n')

export const run = defineCapability({
  name: 'process.run',
  title: 'Run program',
  version,
  purpose: 'Run a program with arguments in the sandbox, never a shell line.',
  when_to_use:
    'The program sees your folders and the programs of the system, and no network unless policy names hosts. No pipes, globs or variables. For files use filesystem.*, for repositories git.*.',
  inputs: z.strictObject({
    command: textField('command', 4096)
      .min(1)
      .describe('A system program by name (python3), or a path with a slash (./build.sh).'),
    args: z
      .array(textField('an argument', 131_071))
      .max(1_000)
      .refine((args) => Buffer.byteLength(args.join('')) <= mebibyte, 'at most 1 MiB in all')
      .default([])
      .describe('One item per argument; no shell.'),
    working_directory: folderField,
    environment: z
      .record(z.string().max(128), textField('a value', 32_768))
      .refine((all) => Object.keys(all).length <= 100, 'at most 100 variables')
      .default({})
      .describe(
        'Variables to add. Those that make programs load or run something else are refused.',
      ),
    stdin: z.string().max(mebibyte).optional().describe('Standard input.'),
    timeout_seconds: z
      .int()
      .min(1)
      .max(3_600)
      .default(300)
      .describe('The program may run for up to this long.'),
    background: z
      .boolean()
      .default(false)
      .describe('Answer at once; follow it with process.monitor.'),
    memory_limit_bytes: z
      .int()
      .min(16 * mebibyte)
      .max(16_384 * mebibyte)
      .optional()
      .describe('Per process; default: 1 GiB.'),
    cpu_limit: z
      .int()
      .min(1)
      .max(14_400)
      .optional()
      .describe('CPU seconds for each process; default: twice timeout_seconds.'),
    max_output_bytes: z
      .int()
      .min(0)
      .max(mebibyte)
      .default(65_536)
      .describe('Per stream; the rest is dropped. In the background all goes to process.logs.'),
  }),
  outputs: z.object({
    process_id: z
      .string()
      .describe('For process.monitor, process.logs and process.kill while it runs.'),
    state: stateField,
    exit_code: z.int().nullable(),
    signal: z.string().nullable().describe('The signal that ended it.'),
    stdout: z.string(),
    stderr: z.string(),
    truncated: z.boolean(),
    duration_ms: z.int(),
    resource_usage: z.object({
      cpu_ms: z.int().nullable(),
      memory_bytes_max: z.int().nullable(),
    }),
  }),
  tier: 'approval_required',
  effect: 'immediate',
  reach: 'open',
  grants_bind: true,
  side_effects: [{ what: 'whatever the program does to the folders it sees', reversible: false }],
  common_patterns: [
    { title: 'Run the tests', arguments: { command: 'python3', args: ['-m', 'unittest', '-v'] } },
    {
      title: 'Start a server in the background for ten minutes',
      arguments: {
        command: 'python3',
        args: ['server.py'],
        working_directory: 'app',
        background: true,
        timeout_seconds: 600,
      },
    },
    { title: 'Feed a filter', arguments: { command: 'sort', args: ['-u'], stdin: 'b\na\nb\n' } },
  ],
  errors: [
    'ProgramNotFound',
    'NotExecutable',
    'EnvironmentRefused',
    'InvalidPath',
    'PathOutOfScope',
    'PathNotPermitted',
    'ProtectedPath',
    'FileNotFound',
    'NotADirectory',
    'FileTooLarge',
    'PermissionRefused',
    'QuotaExceeded',
    'SandboxUnavailable',
    'SandboxRefused',
    'SandboxFailed',
    'HostUnreachable',
    'Cancelled',
    'ApprovalStale',
  ],
  deadline: ({ timeout_seconds, background }) =>
    aroundSeconds + (background ? aroundSeconds : timeout_seconds),
  result_bytes: ({ background, max_output_bytes }) =>
    64 * 1024 + (background ? 0 : 2 * max_output_bytes),
  text: asText,
  preview: async (args, { processes }) => processPreview(args, await processes.resolve(args)),
  resolve: async (args, { processes }) => ({ ...(await processes.resolve(args)) }),
  run: (ctx, args) => ctx.processes.launch(args),
})
