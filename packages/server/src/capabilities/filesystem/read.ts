import { hash } from 'node:crypto'
import { z } from 'zod'
import { andThen } from '../../domain/awaitable.ts'
import { defineCapability } from '../define.ts'
import { encodingField, pathErrors, pathField, sha256Field, version } from './fields.ts'
import { decode, wholeCharacters } from './text.ts'

const mebibyte = 1024 * 1024
const defaultBytes = mebibyte
const bytesMax = 8 * mebibyte
/** In base64 eight mebibytes would be more than a result may have. */
const base64BytesMax = 7 * mebibyte

export const read = defineCapability({
  name: 'filesystem.read',
  title: 'Read file',
  version,
  purpose: 'Read a file, or a range of its bytes.',
  when_to_use:
    'To find text use filesystem.search_content. For size and time alone use filesystem.stat.',
  inputs: z.strictObject({
    path: pathField('The file to read'),
    encoding: encodingField.describe(
      'utf-8 for text, base64 for binary files, latin1 for old text.',
    ),
    offset: z
      .int()
      .min(0)
      .optional()
      .describe('First byte to read. Default 0. Moved back to the start of a character in utf-8.'),
    limit: z
      .int()
      .min(1)
      .max(bytesMax)
      .optional()
      .describe(
        'How many bytes. Default 1 MiB, at most 8 MiB (7 in base64). Extended to the end of a character in utf-8.',
      ),
  }),
  outputs: z.object({
    content: z.string(),
    encoding: z.string(),
    size_bytes: z.int().describe('Of the whole file.'),
    modified_at: z.string(),
    sha256: sha256Field.nullable().describe('Of the whole file; null when only a part was read.'),
    truncated: z.boolean().describe('Whether the file goes on after what was read.'),
    offset: z.int().describe('The first byte that content begins with.'),
    next_offset: z.int().nullable().describe('The offset to go on with; null at the end.'),
  }),
  tier: 'autonomous',
  effect: 'none',
  common_patterns: [
    { title: 'Read a text file', arguments: { path: 'notes/todo.md' } },
    { title: 'Read an image', arguments: { path: 'logo.png', encoding: 'base64' } },
    {
      title: 'Go on where a long file was cut',
      arguments: { path: 'server.log', offset: 1048576, limit: 1048576 },
    },
  ],
  errors: [...pathErrors, 'IsADirectory', 'NotARegularFile', 'TooManyLinks', 'InvalidEncoding'],
  result_bytes: ({ limit = defaultBytes }) => limit + 16 * 1024,
  text: (data) => data.content,
  run(ctx, { path, encoding, offset = 0, limit = defaultBytes }) {
    const wanted = encoding === 'base64' ? Math.min(limit, base64BytesMax) : limit
    const isText = encoding === 'utf-8'
    // Up to three bytes more on either side show where a character begins and ends.
    const before = isText ? Math.min(offset, 3) : 0
    const after = isText ? 3 : 0
    const asked = {
      offset: offset - before,
      limit: before + wanted + after,
      bytesMax: bytesMax + 6,
    }
    return andThen(ctx.files.read(path, asked), ({ bytes, size_bytes, modified_at }) => {
      const from = Math.min(before, bytes.length)
      const to = Math.min(from + wanted, bytes.length)
      const [start, end] = isText ? wholeCharacters(bytes, from, to) : [from, to]
      const part = start === 0 && end === bytes.length ? bytes : bytes.subarray(start, end)
      const first = Math.min(offset - before, size_bytes) + start
      const truncated = first + part.length < size_bytes
      return {
        content: decode(part, encoding, path),
        encoding,
        size_bytes,
        modified_at,
        sha256: part.length === size_bytes ? hash('sha256', part) : null,
        truncated,
        offset: first,
        next_offset: truncated ? first + part.length : null,
      }
    })
  },
})
