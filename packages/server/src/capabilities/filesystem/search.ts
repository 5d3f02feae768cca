import { z } from 'zod'
import { globCharsMax, parseGlob } from '../../domain/glob.ts'
import type { FoundEntry } from '../../ports/files.ts'
import { defineCapability } from '../define.ts'
import { entryFields, pathErrors, pathField, timeField, version, withheldField } from './fields.ts'
import { filesBelow } from './files-below.ts'
import { groupFiles, withoutDuplicates } from './group-files.ts'

const group = z.object({
  key: z.string(),
  count: z.int(),
  size_bytes: z.int(),
  newest: z.string().describe('When the newest of them was changed.'),
})

/** Sizes and groups are about files; a folder can only match by name and time. */
const filterOf = (args: {
  readonly pattern: string
  readonly modified_after?: string | undefined
  readonly min_size?: number | undefined
  readonly max_size?: number | undefined
  readonly aggregate?: object | undefined
}): ((found: FoundEntry) => boolean) => {
  const glob = parseGlob(args.pattern)
  const { min_size = 0, max_size = Number.POSITIVE_INFINITY } = args
  const after = args.modified_after ? Date.parse(args.modified_after) : Number.NEGATIVE_INFINITY
  const filesOnly = [args.min_size, args.max_size, args.aggregate].some((a) => a !== undefined)
  const hasSize = ({ type, size_bytes }: FoundEntry): boolean =>
    type === 'file' ? size_bytes >= min_size && size_bytes <= max_size : !filesOnly
  return (found) =>
    glob.matches(found.relative) && hasSize(found) && Date.parse(found.modified_at) > after
}

export const search = defineCapability({
  name: 'filesystem.search',
  title: 'Search files by name',
  version,
  purpose: 'Find files and folders by name, time and size, or count them in groups.',
  when_to_use:
    'For text inside files use filesystem.search_content, for one folder filesystem.list. What git keeps in .git is left out.',
  inputs: z.strictObject({
    path: pathField('The folder to search below'),
    pattern: z
      .string()
      .min(1)
      .max(globCharsMax)
      .describe(
        'Glob with *, ? and **. Without a slash it is compared with names at any depth (*.ts); with one, with paths below the folder (src/**/*.ts). No braces.',
      ),
    max_results: z.int().min(1).max(10_000).default(100).describe('Most results to return.'),
    modified_after: timeField
      .optional()
      .describe('Only what was changed after this time (ISO 8601).'),
    min_size: z.int().min(0).optional().describe('Smallest size in bytes.'),
    max_size: z.int().min(0).optional().describe('Largest size in bytes.'),
    aggregate: z
      .strictObject({
        group_by: z
          .enum(['extension', 'directory', 'day', 'none'])
          .default('none')
          .describe('One group per extension, folder or day of change (UTC), or one for all.'),
        dedupe: z.boolean().default(false).describe('Count equal files once and name the copies.'),
      })
      .optional()
      .describe('Return counts instead of matches.'),
  }),
  outputs: z.object({
    matches: z.array(z.object({ path: z.string(), ...entryFields })).optional(),
    groups: z.array(group).optional(),
    duplicates: z
      .array(z.object({ sha256: z.string(), size_bytes: z.int(), paths: z.array(z.string()) }))
      .optional(),
    total_matches: z.int().describe('How many match without max_results.'),
    truncated: z.boolean().describe('Whether matches were cut off.'),
    withheld: withheldField,
  }),
  tier: 'autonomous',
  effect: 'none',
  timeout_seconds: 120,
  common_patterns: [
    { title: 'Find all TypeScript files', arguments: { path: '.', pattern: '*.ts' } },
    {
      title: 'See which kinds of file take the room',
      arguments: { path: '.', pattern: '**', aggregate: { group_by: 'extension' } },
    },
    {
      title: 'Find what changed lately',
      arguments: { path: 'src', pattern: '**', modified_after: '2026-05-01T00:00:00Z' },
    },
  ],
  errors: [...pathErrors, 'InvalidPattern', 'QuotaExceeded'],
  async run(ctx, args) {
    const { max_results, aggregate } = args
    const fits = filterOf(args)
    const keep = aggregate ? Number.POSITIVE_INFINITY : max_results
    const matches: FoundEntry[] = []
    let total_matches = 0
    const below = filesBelow(ctx, args.path)
    for await (const found of below) {
      if (!fits(found)) continue
      total_matches++
      if (matches.length < keep) matches.push(found)
    }
    if (!aggregate) {
      const shown = matches.map(({ name: _name, relative: _relative, ...match }) => match)
      return {
        matches: shown,
        total_matches,
        truncated: below.cut || total_matches > keep,
        withheld: below.withheld,
      }
    }
    const { files, duplicates, cut } = aggregate.dedupe
      ? await withoutDuplicates(ctx, matches)
      : { files: matches, duplicates: null, cut: false }
    const groups = groupFiles(files, aggregate.group_by)
    const more = Math.max(groups.length, duplicates?.length ?? 0) > max_results
    return {
      groups: groups.slice(0, max_results),
      ...(duplicates ? { duplicates: duplicates.slice(0, max_results) } : {}),
      total_matches,
      truncated: below.cut || cut || more,
      withheld: below.withheld,
    }
  },
})
