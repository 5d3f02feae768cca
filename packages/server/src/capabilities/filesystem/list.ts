import { z } from 'zod'
import type { FileEntry } from '../../ports/files.ts'
import { defineCapability } from '../define.ts'
import { entryFields, pathErrors, pathField, version, withheldField } from './fields.ts'

const byName = (a: FileEntry, b: FileEntry): number => (a.name < b.name ? -1 : 1)
const order: Readonly<Record<string, (a: FileEntry, b: FileEntry) => number>> = {
  name: byName,
  size: (a, b) => b.size_bytes - a.size_bytes || byName(a, b),
  modified: (a, b) => b.modified_at.localeCompare(a.modified_at) || byName(a, b),
  type: (a, b) => a.type.localeCompare(b.type) || byName(a, b),
}

export const list = defineCapability({
  name: 'filesystem.list',
  title: 'List folder',
  version,
  purpose: 'List the entries of one folder.',
  when_to_use:
    'To look into subfolders use filesystem.search. For a single path use filesystem.stat.',
  inputs: z.strictObject({
    path: pathField('The folder to list'),
    include_hidden: z.boolean().default(false).describe('Also names that begin with a dot.'),
    sort_by: z
      .enum(['name', 'size', 'modified', 'type'])
      .default('name')
      .describe('Order: by name, largest first, newest first, or by type.'),
    limit: z.int().min(1).max(10_000).default(1000).describe('Most entries to return.'),
  }),
  outputs: z.object({
    path: z.string(),
    entries: z.array(z.object({ name: z.string(), ...entryFields })),
    total: z.int().describe('How many there are without the limit.'),
    truncated: z.boolean(),
    withheld: withheldField,
  }),
  tier: 'autonomous',
  effect: 'none',
  common_patterns: [
    { title: 'Look around in your workspace', arguments: { path: '.' } },
    { title: 'See what changed last', arguments: { path: 'logs', sort_by: 'modified', limit: 10 } },
  ],
  errors: [...pathErrors, 'QuotaExceeded'],
  async run(ctx, { path, include_hidden, sort_by, limit }) {
    const { entries: all, withheld } = await ctx.files.list(path)
    const shown = include_hidden ? all : all.filter((entry) => !entry.name.startsWith('.'))
    const entries = shown.toSorted(order[sort_by]).slice(0, limit)
    return {
      path: ctx.files.resolve(path),
      entries,
      total: shown.length,
      truncated: entries.length < shown.length,
      withheld,
    }
  },
})
