import { z } from 'zod'
import { commandPreview } from '../command-preview.ts'
import { defineCapability, smallResult } from '../define.ts'
import { pathField, version, writeErrors } from './fields.ts'

export const mkdir = defineCapability({
  name: 'filesystem.mkdir',
  title: 'Create folder',
  version,
  purpose: 'Create a folder.',
  when_to_use:
    'For a single file use filesystem.write with create_parents. A folder that exists already is fine.',
  inputs: z.strictObject({
    path: pathField('The folder to make'),
    parents: z.boolean().default(true).describe('Create missing parent folders.'),
  }),
  outputs: z.object({ path: z.string(), created: z.boolean() }),
  tier: 'autonomous',
  notify: true,
  effect: 'immediate',
  side_effects: [{ what: 'a new folder', reversible: true }],
  undo: () => 'Delete the folder.',
  common_patterns: [{ title: 'Make a nested folder', arguments: { path: 'reports/2026/05' } }],
  errors: [...writeErrors, 'AlreadyExists'],
  result_bytes_max: smallResult,
  preview: ({ path, parents }, { files }) =>
    commandPreview(['mkdir', ...(parents ? ['-p'] : []), files.resolve(path)]),
  run: (ctx, { path, parents }) => ctx.files.makeDirectory(path, { parents }),
})
