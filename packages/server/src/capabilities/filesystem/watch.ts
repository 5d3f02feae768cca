import { z } from 'zod'
import { defineCapability, smallResult } from '../define.ts'
import { pathErrors, pathField, version } from './fields.ts'

export const watch = defineCapability({
  name: 'filesystem.watch',
  title: 'Watch files',
  side_effects: [{ what: 'events reach you until the watch ends', reversible: true }],
  version,
  purpose: 'Get an event when files change.',
  when_to_use:
    'Changes arrive as events until filesystem.unwatch. To look once use filesystem.stat.',
  inputs: z.strictObject({
    path: pathField('The file or folder to watch'),
    recursive: z.boolean().default(false).describe('Also the folders below it.'),
    pattern: z
      .string()
      .min(1)
      .max(256)
      .optional()
      .describe('Only names that match this glob, such as *.md.'),
    events: z
      .array(z.enum(['created', 'changed', 'deleted']))
      .min(1)
      .max(3)
      .optional()
      .describe('Only these kinds of change. Default: all.'),
  }),
  outputs: z.object({ watch_id: z.string().describe('For filesystem.unwatch.') }),
  tier: 'autonomous',
  effect: 'none',
  common_patterns: [
    {
      title: 'Wait for new reports',
      arguments: { path: 'inbox', pattern: '*.pdf', events: ['created'] },
    },
  ],
  errors: [...pathErrors, 'InvalidPattern', 'QuotaExceeded'],
  result_bytes_max: smallResult,
  run: async (ctx, { path, recursive, pattern, events }) => ({
    watch_id: await ctx.watches.add({
      path,
      recursive,
      ...(pattern === undefined ? {} : { pattern }),
      ...(events === undefined ? {} : { events }),
    }),
  }),
})
