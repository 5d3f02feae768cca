import { z } from 'zod'
import { boundEnds } from '../bound-files.ts'
import { commandPreview } from '../command-preview.ts'
import { defineCapability, smallResult } from '../define.ts'
import { entryField, sha256Field, version, writeErrors } from './fields.ts'

export const move = defineCapability({
  name: 'filesystem.move',
  title: 'Move file or folder',
  version,
  purpose: 'Move or rename a file or folder.',
  when_to_use: 'To keep the original use filesystem.copy.',
  inputs: z.strictObject({
    source: entryField('File or folder to move; a link itself is moved, not its target'),
    destination: entryField('The path that it gets, not the folder to put it in'),
    overwrite: z.boolean().default(false).describe('Replace an existing file.'),
  }),
  outputs: z.object({
    source: z.string(),
    destination: z.string(),
    size_bytes: z.int().describe('0 for a folder.'),
    sha256: sha256Field.nullable().describe('Of a file up to 16 MiB, else null.'),
  }),
  tier: 'autonomous',
  notify: true,
  effect: 'immediate',
  side_effects: [
    { what: 'a file or folder stands at another path', reversible: true },
    { what: 'with overwrite, the old content of the destination is not kept', reversible: false },
  ],
  undo: ({ overwrite }) => (overwrite ? null : 'Move it back.'),
  common_patterns: [
    { title: 'Rename a file', arguments: { source: 'draft.md', destination: 'final.md' } },
  ],
  errors: [...writeErrors, 'AlreadyExists', 'DirectoryNotEmpty', 'FileChanged', 'ApprovalStale'],
  timeout_seconds: 300,
  result_bytes_max: smallResult,
  preview: ({ source, destination, overwrite }, { files }) =>
    commandPreview(
      ['mv', files.resolve(source), files.resolve(destination)],
      overwrite ? 'replaces a file that stands there' : 'never replaces anything',
    ),
  resolve: async ({ source, destination }, { files }) => ({
    source: await files.fingerprint(source, { entry: true, argument: 'source' }),
    destination: await files.fingerprint(destination, { entry: true, argument: 'destination' }),
  }),
  run: (ctx, { source, destination, overwrite }) =>
    ctx.files.move(source, destination, { overwrite, bound: boundEnds(ctx) }),
})
