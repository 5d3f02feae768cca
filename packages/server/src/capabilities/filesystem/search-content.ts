import { GatehouseError } from '@gatehouse/contract'
import { z } from 'zod'
import { globCharsMax, parseGlob } from '../../domain/glob.ts'
import type { CapabilityContext } from '../../ports/capability.ts'
import { defineCapability } from '../define.ts'
import { isBinary } from '../file-preview.ts'
import { pathErrors, pathField, version, withheldField } from './fields.ts'
import { filesBelow } from './files-below.ts'
import { linesOf, shownLine } from './lines.ts'
import { patternCharsMax, Regex } from './regex.ts'
import type { LineMatch } from './regex-steps.mjs'

const fileBytesMax = 4 * 1024 * 1024
const allBytesMax = 512 * 1024 * 1024
const totalMax = 100_000
const keysMax = 10_000
const keyCharsMax = 200

const match = z.object({
  path: z.string(),
  line: z.int().describe('From 1.'),
  column: z.int().describe('From 1.'),
  text: z.string(),
  before: z.array(z.string()),
  after: z.array(z.string()),
})

type Match = z.infer<typeof match>

/** Finds in the lines of one file; null when nothing in it can match, which is known without its lines. */
type Finder = (
  bytes: Buffer,
  max: number,
) => Promise<{ lines: string[]; found: LineMatch[] } | null>

const literalFinder = (pattern: string): Finder => {
  if (pattern.includes('\n')) {
    const detail = 'it holds a line break, and files are searched line by line'
    throw new GatehouseError('InvalidPattern', { detail })
  }
  const needle = Buffer.from(pattern)
  return async (bytes, max) => {
    if (!bytes.includes(needle)) return null
    const lines = await linesOf(bytes)
    const found: LineMatch[] = []
    for (const [line, text] of lines.entries()) {
      for (
        let at = text.indexOf(pattern);
        at >= 0;
        at = text.indexOf(pattern, at + pattern.length)
      ) {
        found.push({ line, start: at, end: at + pattern.length, group: null })
        if (found.length >= max) return { lines, found }
      }
    }
    return { lines, found }
  }
}

const regexFinder =
  (regex: Regex, signal: AbortSignal): Finder =>
  async (bytes, max) => {
    const lines = await linesOf(bytes)
    return { lines, found: await regex.findInLines(lines, max, signal) }
  }

/** Collector of each mode while the files go by. */
class Gathered {
  readonly matches: Match[] = []
  readonly files: { path: string; count: number }[] = []
  readonly counts = new Map<string, number>()
  total = 0
  filesMatched = 0
  keysCut = false

  add(path: string, lines: readonly string[], found: readonly LineMatch[], take: Take): void {
    if (found.length === 0) return
    this.total += found.length
    this.filesMatched++
    if (take.mode === 'files' && this.files.length < take.limit) {
      this.files.push({ path, count: found.length })
    }
    for (const hit of found) {
      if (take.mode === 'matches' && this.matches.length < take.limit) {
        this.matches.push(this.#shown(path, lines, hit, take.context))
      } else if (take.mode === 'count_by') this.#count(lines, hit)
      else break
    }
  }

  #shown(path: string, lines: readonly string[], hit: LineMatch, context: number): Match {
    const { line, start } = hit
    return {
      path,
      line: line + 1,
      column: start + 1,
      text: shownLine(lines[line] ?? '', start),
      before: lines.slice(Math.max(0, line - context), line).map((text) => shownLine(text)),
      after: lines.slice(line + 1, line + 1 + context).map((text) => shownLine(text)),
    }
  }

  #count(lines: readonly string[], { line, start, end, group }: LineMatch): void {
    const key = (group ?? lines[line]?.slice(start, end) ?? '').slice(0, keyCharsMax)
    if (!this.counts.has(key) && this.counts.size >= keysMax) this.keysCut = true
    else this.counts.set(key, (this.counts.get(key) ?? 0) + 1)
  }
}

type Take = {
  readonly mode: 'matches' | 'files' | 'count' | 'count_by'
  readonly context: number
  readonly limit: number
}

type Ran = { searched: number; skipped: number; cut: boolean; withheld: number }

const searchFiles = async (
  ctx: CapabilityContext,
  args: { readonly path: string; readonly include_glob?: string | undefined },
  find: Finder,
  add: (path: string, lines: readonly string[], found: readonly LineMatch[]) => number,
): Promise<Ran> => {
  const glob = args.include_glob === undefined ? null : parseGlob(args.include_glob)
  const ran: Ran = { searched: 0, skipped: 0, cut: false, withheld: 0 }
  let bytesRead = 0
  let total = 0
  const below = filesBelow(ctx, args.path)
  for await (const file of below) {
    if (file.type !== 'file' || (glob && !glob.matches(file.relative))) continue
    if (total >= totalMax || bytesRead >= allBytesMax) {
      ran.cut = true
      break
    }
    const bytes = file.size_bytes > fileBytesMax ? null : await readText(ctx, file.path)
    if (!bytes) {
      ran.skipped++
      continue
    }
    ran.searched++
    bytesRead += bytes.length
    const hit = await find(bytes, totalMax - total)
    if (hit) total = add(file.path, hit.lines, hit.found)
    if (ran.searched % 100 === 0) ctx.progress(ran.searched, undefined, `${total} matches`)
  }
  const cut = ran.cut || below.cut || total >= totalMax
  return { ...ran, cut, withheld: below.withheld }
}

/** Null for what is not text, or has gone or may not be read. */
const readText = async (ctx: CapabilityContext, path: string): Promise<Buffer | null> => {
  try {
    const { bytes, truncated } = await ctx.files.read(path, { bytesMax: fileBytesMax })
    return truncated || isBinary(bytes) ? null : bytes
  } catch (error) {
    if (error instanceof GatehouseError) return null
    throw error
  }
}

export const searchContent = defineCapability({
  name: 'filesystem.search_content',
  title: 'Search text in files',
  version,
  purpose: 'Find text in files, line by line.',
  when_to_use:
    'To find files by name use filesystem.search. Binary files, files over 4 MiB and the insides of .git are left out; skipped_files counts the first two.',
  inputs: z.strictObject({
    path: pathField('The folder to search below, or one file'),
    pattern: z
      .string()
      .min(1)
      .max(patternCharsMax)
      .describe('The text to find, or a regular expression when regex is true. Case matters.'),
    regex: z.boolean().default(false).describe('Pattern is a regular expression (RE2 syntax).'),
    include_glob: z
      .string()
      .min(1)
      .max(globCharsMax)
      .optional()
      .describe('Only files that match: *.ts or src/**/*.md.'),
    mode: z
      .enum(['matches', 'files', 'count', 'count_by'])
      .default('matches')
      .describe(
        'matches with their lines, files with counts, count alone, or count_by distinct text (the first group of a regex).',
      ),
    context_lines: z
      .int()
      .min(0)
      .max(10)
      .default(2)
      .describe('Lines shown before and after a match.'),
    limit: z.int().min(1).max(1000).default(100).describe('Most results to return.'),
  }),
  outputs: z.object({
    matches: z.array(match).optional(),
    files: z.array(z.object({ path: z.string(), count: z.int() })).optional(),
    counts: z.array(z.object({ key: z.string(), count: z.int() })).optional(),
    total: z.int().describe('Matches in all, also those not shown.'),
    files_matched: z.int(),
    files_searched: z.int(),
    skipped_files: z.int(),
    truncated: z.boolean().describe('Whether matches were cut off.'),
    withheld: withheldField,
  }),
  tier: 'autonomous',
  effect: 'none',
  timeout_seconds: 120,
  common_patterns: [
    {
      title: 'Find a word',
      arguments: { path: 'src', pattern: 'parseConfig', include_glob: '*.ts' },
    },
    {
      title: 'See which files mention it',
      arguments: { path: '.', pattern: 'deprecated', mode: 'files' },
    },
    {
      title: 'Count log lines by level',
      arguments: { path: 'app.log', pattern: ' (INFO|WARN|ERROR) ', regex: true, mode: 'count_by' },
    },
  ],
  errors: [...pathErrors, 'InvalidPattern', 'QuotaExceeded'],
  async run(ctx, args) {
    using regex = args.regex ? new Regex(args.pattern) : null
    const find = regex ? regexFinder(regex, ctx.signal) : literalFinder(args.pattern)
    const take: Take = { mode: args.mode, context: args.context_lines, limit: args.limit }
    const all = new Gathered()
    const ran = await searchFiles(ctx, args, find, (path, lines, found) => {
      all.add(path, lines, found, take)
      return all.total
    })
    const counts = [...all.counts].map(([key, count]) => ({ key, count }))
    counts.sort((a, b) => b.count - a.count || (a.key < b.key ? -1 : 1))
    const shown = {
      matches: { matches: all.matches, more: all.total > all.matches.length },
      files: { files: all.files, more: all.filesMatched > all.files.length },
      count: { more: false },
      count_by: {
        counts: counts.slice(0, args.limit),
        more: all.keysCut || counts.length > args.limit,
      },
    }[args.mode]
    const { more, ...data } = shown
    return {
      ...data,
      total: all.total,
      files_matched: all.filesMatched,
      files_searched: ran.searched,
      skipped_files: ran.skipped,
      truncated: ran.cut || more,
      withheld: ran.withheld,
    }
  },
})
