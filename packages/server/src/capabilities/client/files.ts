import { Buffer } from 'node:buffer'
import { z } from 'zod'
import { configuresClient } from '../../domain/client-tools/client-files.ts'
import type { Files } from '../../ports/files.ts'
import { defineCapability } from '../define.ts'
import { changePreview, contentBefore } from '../file-preview.ts'
import { outputs, permit, placeField, toolField, unconfined, version } from './fields.ts'

const heldFile = (path: string): string | null =>
  configuresClient(path) ? `${path} configures what asks for this decision` : null

export const read = defineCapability({
  name: 'client.read',
  title: 'Read file by the client',
  version,
  purpose: 'Let the client read a file by itself.',
  when_to_use: 'Asked for by the hook of a coding agent. Policy is asked about filesystem.read.',
  inputs: z.strictObject({ tool: toolField, path: placeField('The file') }),
  outputs,
  tier: 'autonomous',
  effect: 'none',
  performer: 'client',
  common_patterns: [
    { title: 'Read a file', arguments: { tool: 'Read', path: '/home/ana/shop/cart.ts' } },
  ],
  errors: [],
  stands_for: ({ path }) => ({
    calls: [{ capability: 'filesystem.read', arguments: { path } }],
    held: null,
  }),
  run: permit,
})

export const search = defineCapability({
  name: 'client.search',
  title: 'Search files by the client',
  version,
  purpose: 'Let the client look for files, or for text in files, by itself.',
  when_to_use:
    'Asked for by the hook of a coding agent. Policy is asked about filesystem.search or filesystem.search_content of the folder, whatever the pattern.',
  inputs: z.strictObject({
    tool: toolField,
    path: placeField('The folder or file to search'),
    pattern: z.string().max(10_000).describe('What is looked for.'),
    of: z.enum(['names', 'contents']),
  }),
  outputs,
  tier: 'autonomous',
  effect: 'none',
  performer: 'client',
  common_patterns: [
    {
      title: 'Find text',
      arguments: { tool: 'Grep', path: '/home/ana/shop', pattern: 'total\\(', of: 'contents' },
    },
  ],
  errors: [],
  stands_for: ({ path, of }) => ({
    calls: [
      of === 'names'
        ? { capability: 'filesystem.search', arguments: { path, pattern: '*' } }
        : {
            capability: 'filesystem.search_content',
            arguments: { path, pattern: '.', regex: true },
          },
    ],
    held: null,
  }),
  run: permit,
})

/** A diff where the file can be seen from here; its size and ends where it cannot. */
const shownChange = async (files: Files, path: string, change: (before: string) => string) => {
  const before = files.reaches(path, 'read') ? await contentBefore(files, path) : null
  const after = Buffer.from(change(before?.toString() ?? ''))
  const shown = changePreview(path, before, after)
  return { ...shown, text: `${shown.text}\n${unconfined}\n` }
}

export const write = defineCapability({
  name: 'client.write',
  title: 'Write file by the client',
  version,
  purpose: 'Let the client write a file by itself.',
  when_to_use: 'Asked for by the hook of a coding agent. Policy is asked about filesystem.write.',
  inputs: z.strictObject({
    tool: toolField,
    path: placeField('The file'),
    content: z.string().max(10_485_760).describe('Its new content.'),
  }),
  outputs,
  tier: 'autonomous',
  effect: 'immediate',
  performer: 'client',
  side_effects: [{ what: 'a new file, or new content in the place of the old', reversible: false }],
  common_patterns: [
    {
      title: 'Write a file',
      arguments: { tool: 'Write', path: '/home/ana/shop/notes.md', content: '# Notes\n' },
    },
  ],
  errors: [],
  preview: ({ path, content }, { files }) => shownChange(files, path, () => content),
  stands_for: ({ path, content }) => ({
    calls: [{ capability: 'filesystem.write', arguments: { path, content } }],
    held: heldFile(path),
  }),
  run: permit,
})

const replaced = (
  text: string,
  edits: readonly { readonly from: string; readonly to: string; readonly all: boolean }[],
): string =>
  edits.reduce((before, { from, to, all }) => {
    if (from === '') return before + to
    return all ? before.split(from).join(to) : before.replace(from, () => to)
  }, text)

export const edit = defineCapability({
  name: 'client.edit',
  title: 'Edit file by the client',
  version,
  purpose: 'Let the client change a file by itself.',
  when_to_use: 'Asked for by the hook of a coding agent. Policy is asked about filesystem.edit.',
  inputs: z.strictObject({
    tool: toolField,
    path: placeField('The file'),
    edits: z
      .array(
        z.strictObject({
          from: z.string().max(1_048_576).describe('The old text; empty to add at the end.'),
          to: z.string().max(1_048_576).describe('The new text.'),
          all: z.boolean().describe('In every place, not only the first.'),
        }),
      )
      .max(1_000),
  }),
  outputs,
  tier: 'autonomous',
  effect: 'immediate',
  performer: 'client',
  side_effects: [{ what: 'new content in the place of the old', reversible: false }],
  common_patterns: [
    {
      title: 'Change one place',
      arguments: {
        tool: 'Edit',
        path: '/home/ana/shop/config.json',
        edits: [{ from: '"port": 8080', to: '"port": 9090', all: false }],
      },
    },
  ],
  errors: [],
  preview: ({ path, edits }, { files }) =>
    shownChange(files, path, (before) => replaced(before, edits)),
  stands_for: ({ path }) => ({
    calls: [
      {
        capability: 'filesystem.edit',
        arguments: { path, pattern: '.', replace: '', regex: true },
      },
    ],
    held: heldFile(path),
  }),
  run: permit,
})

export const patch = defineCapability({
  name: 'client.patch',
  title: 'Patch files by the client',
  version,
  purpose: 'Let the client change, add and delete files by itself, as a patch says.',
  when_to_use:
    'Asked for by the hook of a coding agent. Policy is asked about filesystem.write or filesystem.delete of each file.',
  inputs: z.strictObject({
    tool: toolField,
    patch: z.string().max(2_097_152).describe('The patch as the client would apply it.'),
    paths: z.array(placeField('A file')).max(1_000).describe('Files that it adds or changes.'),
    deletes: z.array(placeField('A file')).max(1_000).describe('Files that it deletes.'),
  }),
  outputs,
  tier: 'autonomous',
  effect: 'immediate',
  performer: 'client',
  side_effects: [{ what: 'files added, changed and deleted', reversible: false }],
  common_patterns: [
    {
      title: 'Change one file',
      arguments: {
        tool: 'apply_patch',
        patch: '*** Begin Patch\n*** Update File: a.txt\n@@\n-old\n+new\n*** End Patch\n',
        paths: ['/home/ana/shop/a.txt'],
        deletes: [],
      },
    },
  ],
  errors: [],
  preview: ({ patch: text }) => ({ kind: 'diff', text: `${text}\n${unconfined}\n` }),
  stands_for: ({ paths, deletes }) => ({
    calls: [
      ...paths.map((path) => ({
        capability: 'filesystem.write',
        arguments: { path, content: '' },
      })),
      ...deletes.map((path) => ({ capability: 'filesystem.delete', arguments: { path } })),
    ],
    held: [...paths, ...deletes].map(heldFile).find((held) => held !== null) ?? null,
  }),
  run: permit,
})
