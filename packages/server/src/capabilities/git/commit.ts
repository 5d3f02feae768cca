import { hash } from 'node:crypto'
import { GatehouseError } from '@gatehouse/contract'
import { z } from 'zod'
import type { Files } from '../../ports/files.ts'
import { defineCapability, smallResult } from '../define.ts'
import {
  changeErrors,
  changeOutput,
  filesField,
  filesMax,
  list,
  repositoryField,
  version,
  withheldField,
} from './fields.ts'

const messageCharsMax = 50_000
/** Files that are looked at together. */
const atOnce = 64

/** A link that leads out of the agent's folders is committed as a link, and not looked through. */
const printOf = async (files: Files, path: string) => {
  try {
    return await files.fingerprint(path)
  } catch (error) {
    if (error instanceof GatehouseError) return { leads_to: files.locate(path).absolute }
    throw error
  }
}

export const commit = defineCapability({
  name: 'git.commit',
  title: 'Commit changes',
  version,
  purpose: 'Commit all changes, or those of some files, including new and deleted ones.',
  when_to_use:
    'Look at git.status or git.diff first. Files need not be staged. It also ends a merge whose conflicts you have resolved.',
  inputs: z.strictObject({
    path: repositoryField,
    message: z
      .string()
      .max(messageCharsMax)
      .refine((text) => text.trim() !== '', 'expected a message')
      .refine((text) => !text.includes('\0'), 'a message holds no NUL')
      .describe('The first line is the title.'),
    files: filesField(
      'Only these files and folders. Default: everything that is not ignored.',
    ).optional(),
    author_name: z
      .string()
      .max(200)
      .optional()
      .describe('Default: user.name of the repository, or you.'),
    author_email: z.string().max(200).optional(),
  }),
  outputs: z.object({
    commit_hash: z.string(),
    files_committed: z.int(),
    files: list(changeOutput).describe('The first 1000 of them.'),
    branch: z.string().nullable().describe('Null on a detached head.'),
    withheld: withheldField,
  }),
  tier: 'autonomous',
  notify: true,
  effect: 'immediate',
  side_effects: [{ what: 'a new commit on the current branch', reversible: true }],
  timeout_seconds: 300,
  undo: () => '“git reset HEAD~1” takes the commit back and leaves the files as they are.',
  common_patterns: [
    { title: 'All changes', arguments: { path: 'project', message: 'Parse empty input' } },
    {
      title: 'Some files',
      arguments: { path: 'project', message: 'Fix the title', files: ['README.md', 'docs'] },
    },
  ],
  errors: [...changeErrors, 'NothingToCommit'],
  result_bytes_max: smallResult,
  preview: async ({ path, message, files }, { git, files: folders }) => {
    const plan = await git.planCommit(path, files)
    const shown = plan.changes
      .slice(0, filesMax)
      .map(({ status, path: name }) => `  ${status} ${name}`)
    const more = plan.changes.length - shown.length
    return {
      kind: 'diff',
      path: folders.resolve(path),
      text: [
        `commit of ${plan.changes.length} ${plan.changes.length === 1 ? 'file' : 'files'} on ${plan.branch ?? 'a detached head'}:`,
        ...shown,
        ...(more > 0 ? [`  and ${more} more`] : []),
        '',
        message,
      ].join('\n'),
    }
  },
  resolve: async ({ path, files }, { git, files: folders }) => {
    const { branch, head, changes } = await git.planCommit(path, files)
    const prints: unknown[] = []
    for (let from = 0; from < changes.length; from += atOnce)
      prints.push(
        ...(await Promise.all(
          changes.slice(from, from + atOnce).map(async (change) => ({
            ...change,
            content: await printOf(folders, `${folders.resolve(path)}/${change.path}`),
          })),
        )),
      )
    // @SECURITY Every file is bound, also those that are too many to be named; commit.test.ts.
    const rest = prints.slice(filesMax)
    return {
      branch,
      head,
      total: changes.length,
      changes: prints.slice(0, filesMax),
      ...(rest.length > 0 ? { rest_sha256: hash('sha256', JSON.stringify(rest)) } : {}),
    }
  },
  async run(ctx, { path, message, files, author_name, author_email }) {
    const { changes, ...made } = await ctx.git.commit(path, {
      message,
      files,
      authorName: author_name,
      authorEmail: author_email,
    })
    return { ...made, files_committed: changes.length, files: changes.slice(0, filesMax) }
  },
})
