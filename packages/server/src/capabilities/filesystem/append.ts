import { z } from 'zod'
import { boundFile } from '../bound-files.ts'
import { defineCapability, smallResult } from '../define.ts'
import { changePreview, contentBefore } from '../file-preview.ts'
import { diffBytesMax } from '../text-diff.ts'
import { pathField, version, writeErrors } from './fields.ts'
import { encode } from './text.ts'

export const append = defineCapability({
  name: 'filesystem.append',
  title: 'Append to file',
  destructive: false,
  version,
  purpose: 'Append text to a file; creates the file if it is missing.',
  when_to_use: 'To change what is there use filesystem.edit. No line break is added.',
  inputs: z.strictObject({
    path: pathField('The file to add to'),
    content: z.string().min(1).max(10_485_760).describe('The text to add, with its line breaks.'),
  }),
  outputs: z.object({ path: z.string(), size_bytes: z.int().describe('Of the file afterwards.') }),
  tier: 'autonomous',
  notify: true,
  effect: 'immediate',
  side_effects: [{ what: 'text added at the end of a file', reversible: false }],
  common_patterns: [
    { title: 'Add a line to a log', arguments: { path: 'log.txt', content: 'done\n' } },
  ],
  errors: [...writeErrors, 'InvalidEncoding', 'ApprovalStale'],
  result_bytes_max: smallResult,
  preview: async ({ path, content }, { files }) => {
    const added = encode(content, 'utf-8', path)
    const before = await contentBefore(files, path)
    const whole = before !== null && before.length <= diffBytesMax
    const at = files.resolve(path)
    if (whole) return changePreview(at, before, Buffer.concat([before, added]))
    const { text } = changePreview(at, null, added)
    return before === null
      ? { kind: 'diff', path: at, text }
      : { kind: 'diff', path: at, text: `added at the end:\n${text}` }
  },
  // The file may grow while a person decides; that it is this file may not change.
  resolve: async ({ path }, { files }) => {
    const { version: _version, sha256: _sha256, ...file } = await files.fingerprint(path)
    return { file }
  },
  run: (ctx, { path, content }) =>
    ctx.files.append(path, encode(content, 'utf-8', path), { bound: boundFile(ctx, 'file') }),
})
