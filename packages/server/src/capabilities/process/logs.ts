import { ProcessStream } from '@gatehouse/contract'
import { z } from 'zod'
import { defineCapability } from '../define.ts'
import { processIdField, stateField, version } from './fields.ts'

export const logs = defineCapability({
  name: 'process.logs',
  title: 'Read process output',
  version,
  purpose: 'Read the output of one of your processes.',
  when_to_use:
    'Without offset it returns the end; go on from next_offset to follow it. At least the last 1.5 MiB of each stream are kept.',
  inputs: z.strictObject({
    process_id: processIdField,
    stream: ProcessStream.default('stdout'),
    offset: z
      .int()
      .min(0)
      .optional()
      .describe('Bytes from the start; default: the last `limit` bytes.'),
    limit: z.int().min(1).max(1_048_576).default(65_536).describe('Bytes at most.'),
  }),
  outputs: z.object({
    process_id: z.string(),
    stream: ProcessStream,
    state: stateField,
    content: z.string(),
    offset: z.int().describe('Where content begins.'),
    next_offset: z.int().describe('Where to go on.'),
    total_bytes: z.int().describe('Bytes written so far.'),
    lost_bytes: z.int().describe('Asked for, and no longer kept.'),
    truncated: z.boolean().describe('Whether there is more after next_offset now.'),
  }),
  tier: 'autonomous',
  effect: 'none',
  common_patterns: [
    {
      title: 'The end',
      arguments: { process_id: 'proc-01jqz4xk2m8v5w9r3t6y0b7n1c', limit: 4_096 },
    },
    {
      title: 'Go on where the last answer ended',
      arguments: { process_id: 'proc-01jqz4xk2m8v5w9r3t6y0b7n1c', offset: 4_096 },
    },
  ],
  errors: ['ProcessNotFound', 'ProcessElsewhere'],
  result_bytes: ({ limit }) => limit + 16 * 1024,
  text: ({ content }) => content,
  run: (ctx, args) => ctx.processes.logs(args),
})
