import { z } from 'zod'
import { shellCalls, shellHeld } from '../../domain/client-tools/shell-calls.ts'
import { commandLine } from '../../domain/processes/command-line.ts'
import { defineCapability } from '../define.ts'
import { outputs, permit, placeField, toolField, unconfined, version } from './fields.ts'

const text = (max: number) => z.string().max(max)
const filesField = (what: string) =>
  z.array(text(4096).regex(/^\//, 'expected an absolute path')).max(200).describe(what)

const partField = z.strictObject({
  command: text(4096).describe('Empty where there are redirections alone.'),
  args: z.array(text(131_071)).max(1_000),
  environment: z.record(z.string().max(128), text(32_768)),
  working_directory: text(4096).regex(/^\//, 'expected an absolute path'),
  reads: filesField('Files that it reads from by redirection'),
  writes: filesField('Files that it is redirected to'),
})

type Args = {
  readonly command: string
  readonly working_directory: string
  readonly parts: readonly z.output<typeof partField>[]
  readonly unclear: string | null
}

const partLine = ({ command, args, environment, reads, writes }: Args['parts'][number]): string =>
  [
    ...Object.entries(environment).map(([name, value]) => commandLine([`${name}=${value}`])),
    ...(command === '' ? [] : [commandLine([command, ...args])]),
    ...reads.map((path) => `< ${commandLine([path])}`),
    ...writes.map((path) => `> ${commandLine([path])}`),
  ].join(' ')

const previewText = ({ command, working_directory, parts, unclear }: Args): string =>
  [
    command,
    '',
    `in: ${commandLine([working_directory])}`,
    ...(unclear === null
      ? parts.map((part) => `runs: ${partLine(part)}`)
      : [`NOT UNDERSTOOD: ${unclear}. What it runs is not known.`]),
    unconfined,
  ].join('\n')

export const shell = defineCapability({
  name: 'client.shell',
  title: 'Run shell line by the client',
  version,
  purpose: 'Let the client run a shell line by itself, on the machine.',
  when_to_use:
    'Asked for by the hook of a coding agent. Policy is asked about each program, about programs that only read as filesystem.* and git.*, and about files in redirections.',
  inputs: z.strictObject({
    tool: toolField,
    command: text(131_072).min(1).describe('The line as the client would give it to the shell.'),
    working_directory: placeField('The folder that it starts in'),
    parts: z
      .array(partField)
      .max(200)
      .describe('The programs that it starts, as they were understood.'),
    unclear: text(500).nullable().describe('What of it cannot be understood, if anything.'),
  }),
  outputs,
  tier: 'autonomous',
  effect: 'immediate',
  reach: 'open',
  performer: 'client',
  side_effects: [{ what: 'whatever the line does on the machine', reversible: false }],
  common_patterns: [
    {
      title: 'Run the tests',
      arguments: {
        tool: 'Bash',
        command: 'npm test',
        working_directory: '/home/ana/shop',
        parts: [
          {
            command: 'npm',
            args: ['test'],
            environment: {},
            working_directory: '/home/ana/shop',
            reads: [],
            writes: [],
          },
        ],
        unclear: null,
      },
    },
  ],
  errors: [],
  preview: (args) => ({ kind: 'command', text: previewText(args) }),
  stands_for: ({ parts, unclear }) => ({
    calls: shellCalls(parts),
    held: shellHeld(parts, unclear),
  }),
  run: permit,
})
