import { z } from 'zod'
import { boundFile } from '../bound-files.ts'
import { defineCapability, smallResult } from '../define.ts'
import { changePreview, contentBefore } from '../file-preview.ts'
import { encodingField, pathField, sha256Field, version, writeErrors } from './fields.ts'
import { encode } from './text.ts'

export const write = defineCapability({
  name: 'filesystem.write',
  title: 'Write file',
  version,
  purpose: 'Write a whole file, new or in place of the old content.',
  when_to_use:
    'To change a part use filesystem.edit, to add at the end filesystem.append. Give if_sha256 from filesystem.read when others may write the file too.',
  inputs: z.strictObject({
    path: pathField('The file to write'),
    content: z.string().max(10_485_760).describe('New content of the file, up to 10 MiB.'),
    encoding: encodingField.describe('How content is given: text as utf-8 or latin1, or base64.'),
    create_parents: z.boolean().default(false).describe('Create missing parent folders.'),
    if_sha256: sha256Field.optional().describe('Refused unless the file still has this sha256.'),
  }),
  outputs: z.object({
    path: z.string(),
    size_bytes: z.int(),
    sha256: sha256Field,
    created: z.boolean().describe('Whether there was no file before.'),
  }),
  tier: 'autonomous',
  notify: true,
  effect: 'immediate',
  side_effects: [
    {
      what: 'a new file, or new content in the place of the old, which is not kept',
      reversible: false,
    },
  ],
  common_patterns: [
    {
      title: 'Write a file in a new folder',
      arguments: { path: 'reports/may.md', content: '# May\n', create_parents: true },
    },
    {
      title: 'Overwrite only what you read',
      arguments: {
        path: 'config.json',
        content: '{}\n',
        if_sha256: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
      },
    },
  ],
  errors: [...writeErrors, 'FileChanged', 'InvalidEncoding', 'ApprovalStale'],
  result_bytes_max: smallResult,
  preview: async ({ path, content, encoding }, { files }) =>
    changePreview(
      files.resolve(path),
      await contentBefore(files, path),
      encode(content, encoding, path),
    ),
  resolve: async ({ path }, { files }) => ({ file: await files.fingerprint(path) }),
  // @SECURITY The file that was shown is replaced, not one that was written meanwhile; bound-changes.test.ts.
  run: (ctx, { path, content, encoding, create_parents, if_sha256 }) =>
    ctx.files.write(path, encode(content, encoding, path), {
      createParents: create_parents,
      bound: boundFile(ctx, 'file'),
      ...(if_sha256 === undefined ? {} : { ifSha256: if_sha256 }),
    }),
})
