import { GatehouseError } from '@gatehouse/contract'
import { z } from 'zod'
import { defineCapability } from '../define.ts'
import { list, refField, repositoryErrors, repositoryField, version } from './fields.ts'

const linesDefault = 500
const linesMax = 5000

/** `10,20`, `10`, or nothing: the first line and how many. */
const spanOf = (range: string | undefined): { readonly first: number; readonly limit: number } => {
  const [first = 1, last] = (range ?? '1').split(',').map(Number)
  if (last === undefined) return { first, limit: range === undefined ? linesDefault : 1 }
  if (last >= first && last - first < linesMax) return { first, limit: last - first + 1 }
  throw new GatehouseError('InvalidArguments', {
    capability: 'git.blame',
    detail: `range goes from a line to a later one, at most ${linesMax} lines`,
  })
}

export const blame = defineCapability({
  name: 'git.blame',
  title: 'Blame lines',
  version,
  purpose: 'Show which commit last changed each line of a file.',
  when_to_use: 'git.show then tells the whole change.',
  inputs: z.strictObject({
    path: repositoryField,
    file: z.string().min(1).max(4096).describe('The file, as a path in the repository.'),
    range: z
      .string()
      .regex(/^[1-9]\d{0,8}(,[1-9]\d{0,8})?$/, 'expected a line such as 10, or two such as 10,20')
      .optional()
      .describe(`First and last line, such as 10,20. Default: the first ${linesDefault} lines.`),
    ref: refField('As of this commit. Default: as the file stands now.').optional(),
  }),
  outputs: z.object({
    lines: list(
      z.object({
        line: z.int(),
        content: z.string(),
        commit: z.string().nullable().describe('Null for a line that is not committed yet.'),
        author_name: z.string(),
        authored_at: z.string(),
        summary: z.string(),
      }),
    ),
    truncated: z.boolean().describe('Whether the file goes on after the last line told.'),
  }),
  tier: 'autonomous',
  effect: 'none',
  timeout_seconds: 130,
  common_patterns: [
    { title: 'Some lines', arguments: { path: 'project', file: 'src/main.ts', range: '10,20' } },
  ],
  errors: [...repositoryErrors, 'InvalidRef', 'GitRefused'],
  run: async (ctx, { path, file, range, ref }) =>
    await ctx.git.blame(path, { file, ref, ...spanOf(range) }),
})
