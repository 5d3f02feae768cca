import { z } from 'zod'
import { boundEnds } from '../bound-files.ts'
import { commandPreview } from '../command-preview.ts'
import { defineCapability, smallResult } from '../define.ts'
import { pathField, sha256Field, version, writeErrors } from './fields.ts'

export const copy = defineCapability({
  name: 'filesystem.copy',
  title: 'Copy file or folder',
  version,
  purpose: 'Copy a file or a whole folder.',
  when_to_use:
    'To keep no original use filesystem.move. A folder with more than 10,000 entries, or with a git repository, is refused; use git.clone for the latter.',
  inputs: z.strictObject({
    source: pathField('File or folder to copy'),
    destination: pathField('The path that the copy gets, not the folder to put it in'),
    overwrite: z.boolean().default(false).describe('Replace an existing file.'),
  }),
  outputs: z.object({
    source: z.string(),
    destination: z.string(),
    size_bytes: z.int(),
    sha256: sha256Field.nullable().describe('Of the file; null for a folder.'),
  }),
  tier: 'autonomous',
  notify: true,
  effect: 'immediate',
  side_effects: [
    { what: 'a new file or folder', reversible: true },
    { what: 'with overwrite, the old content of the destination is not kept', reversible: false },
  ],
  undo: ({ overwrite }) => (overwrite ? null : 'Delete the copy.'),
  common_patterns: [
    {
      title: 'Keep a copy before a change',
      arguments: { source: 'config.json', destination: 'config.json.bak' },
    },
  ],
  errors: [...writeErrors, 'AlreadyExists', 'QuotaExceeded', 'ApprovalStale'],
  timeout_seconds: 300,
  result_bytes_max: smallResult,
  preview: ({ source, destination, overwrite }, { files }) =>
    commandPreview(
      ['cp', '-r', files.resolve(source), files.resolve(destination)],
      overwrite ? 'replaces a file that stands there' : 'never replaces anything',
    ),
  resolve: async ({ source, destination }, { files }) => ({
    source: await files.fingerprint(source, { argument: 'source' }),
    destination: await files.fingerprint(destination, { argument: 'destination' }),
  }),
  run: (ctx, { source, destination, overwrite }) =>
    ctx.files.copy(source, destination, { overwrite, bound: boundEnds(ctx) }),
})
