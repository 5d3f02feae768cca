import { z } from 'zod'
import { globCharsMax } from '../../domain/glob.ts'
import { defineCapability } from '../define.ts'
import { applyEdits, assertShown, diffOfEdits, planEdits, shownFiles } from './edit-files.ts'
import { pathField, sha256Field, version, withheldField, writeErrors } from './fields.ts'
import { patternCharsMax } from './regex.ts'

const literalCharsMax = 100_000

const inputs = z
  .strictObject({
    path: pathField('The file to edit. Give this, or root and include_glob').optional(),
    root: pathField(
      'The folder below which files are edited, together with include_glob',
    ).optional(),
    include_glob: z
      .string()
      .min(1)
      .max(globCharsMax)
      .optional()
      .describe('Glob of files below root: *.ts or docs/**/*.md.'),
    pattern: z
      .string()
      .min(1)
      .max(literalCharsMax)
      .describe('The exact text to replace, or a regex; may span lines.'),
    replace: z
      .string()
      .max(1_048_576)
      .describe('The new text. With regex, $1 and $<name> stand for groups, $$ for a dollar sign.'),
    regex: z.boolean().default(false).describe('Pattern is a regular expression (RE2 syntax).'),
    expected_replacements: z
      .int()
      .min(1)
      .max(100_000)
      .optional()
      .describe('Nothing changes unless exactly this many places match. Default 1.'),
    replace_all: z
      .boolean()
      .default(false)
      .describe('Replace however many there are. Not together with expected_replacements.'),
    dry_run: z.boolean().default(false).describe('Only show the diff; change nothing.'),
  })
  .refine(
    (a) => (a.path === undefined) === (a.root !== undefined && a.include_glob !== undefined),
    {
      message: 'give either path, or root and include_glob',
      path: ['path'],
    },
  )
  .refine((a) => a.path === undefined || (a.root === undefined && a.include_glob === undefined), {
    message: 'root and include_glob do not go together with path',
    path: ['path'],
  })
  .refine((a) => !(a.replace_all && a.expected_replacements !== undefined), {
    message: 'give either expected_replacements or replace_all',
    path: ['replace_all'],
  })
  .refine((a) => !a.regex || a.pattern.length <= patternCharsMax, {
    message: `a regex has at most ${patternCharsMax} characters`,
    path: ['pattern'],
  })

export const edit = defineCapability({
  name: 'filesystem.edit',
  title: 'Edit files',
  version,
  purpose: 'Replace text in a file, or in all files that match a glob.',
  when_to_use:
    'To replace everything use filesystem.write. If the text stands in several places, give more of what surrounds it, or say how many you expect.',
  inputs,
  outputs: z.object({
    applied: z.boolean().describe('False for a dry run.'),
    total_replacements: z.int(),
    files: z.array(z.object({ path: z.string(), replacements: z.int(), sha256: sha256Field })),
    skipped_files: z.int().describe('Files below root that are no text or too large.'),
    withheld: withheldField,
    diff: z.string(),
    diff_truncated: z.boolean().describe('Whether some files are only named in diff.'),
  }),
  tier: 'autonomous',
  notify: true,
  effect: 'immediate',
  side_effects: [
    { what: 'new content in the files changed; the diff tells the old', reversible: false },
  ],
  timeout_seconds: 120,
  common_patterns: [
    {
      title: 'Change one place',
      arguments: { path: 'config.json', pattern: '"port": 8080', replace: '"port": 9090' },
    },
    {
      title: 'Rename in many files, first to see',
      arguments: {
        root: 'src',
        include_glob: '*.ts',
        pattern: '\\boldName\\b',
        replace: 'newName',
        regex: true,
        replace_all: true,
        dry_run: true,
      },
    },
  ],
  errors: [
    ...writeErrors,
    'EditMismatch',
    'FileChanged',
    'FileTooLarge',
    'InvalidEncoding',
    'InvalidPattern',
    'QuotaExceeded',
    'ApprovalStale',
  ],
  preview: async (args, ctx) => {
    const plan = await planEdits(ctx, args)
    return { kind: 'diff', text: diffOfEdits(plan.edits).diff }
  },
  resolve: async (args, ctx) => {
    const plan = await planEdits(ctx, args)
    const prints = plan.edits.map(async ({ path }) => [path, await ctx.files.fingerprint(path)])
    return { files: Object.fromEntries(await Promise.all(prints)) as Record<string, unknown> }
  },
  async run(ctx, args) {
    const plan = await planEdits(ctx, args)
    const shown = shownFiles(ctx)
    if (shown) assertShown(shown, plan.edits)
    if (!args.dry_run) await applyEdits(ctx, plan.edits, shown)
    const { diff, truncated } = diffOfEdits(plan.edits)
    return {
      applied: !args.dry_run,
      total_replacements: plan.edits.reduce((sum, { replacements }) => sum + replacements, 0),
      files: plan.edits.map(({ path, replacements, sha256After: sha256 }) => ({
        path,
        replacements,
        sha256,
      })),
      skipped_files: plan.skipped,
      withheld: plan.withheld,
      diff,
      diff_truncated: truncated,
    }
  },
})
