import { z } from 'zod'
import { andThen } from '../../domain/awaitable.ts'
import { defineCapability, smallResult } from '../define.ts'
import { entryField, fileType, version } from './fields.ts'

export const stat = defineCapability({
  name: 'filesystem.stat',
  title: 'Inspect path',
  version,
  purpose: 'Show whether a path exists, and its type, size and times.',
  when_to_use:
    'A missing path is an answer here, not an error. For the entries of a folder use filesystem.list.',
  inputs: z.strictObject({ path: entryField('Path to look at; a link is not followed') }),
  outputs: z.object({
    path: z.string(),
    exists: z.boolean(),
    type: fileType.nullable(),
    size_bytes: z.int().nullable(),
    modified_at: z.string().nullable(),
    created_at: z.string().nullable(),
    permissions: z.string().nullable().describe('Octal, such as 0644.'),
    owner: z.string().nullable().describe('Numbers of user and group.'),
  }),
  tier: 'autonomous',
  effect: 'none',
  common_patterns: [{ title: 'Check whether a file exists', arguments: { path: 'package.json' } }],
  errors: [
    'InvalidPath',
    'PathOutOfScope',
    'PathNotPermitted',
    'ProtectedPath',
    'PermissionRefused',
  ],
  result_bytes_max: smallResult,
  run: (ctx, { path }) =>
    andThen(ctx.files.stat(path), (found) => ({
      path: ctx.files.resolve(path),
      exists: found !== null,
      type: found?.type ?? null,
      size_bytes: found?.size_bytes ?? null,
      modified_at: found?.modified_at ?? null,
      created_at: found?.created_at ?? null,
      permissions: found?.permissions ?? null,
      owner: found?.owner ?? null,
    })),
})
