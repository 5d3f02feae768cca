import { z } from 'zod'
import { commandPreview } from '../command-preview.ts'
import { defineCapability, smallResult } from '../define.ts'
import {
  branchField,
  changeErrors,
  folderField,
  headField,
  remoteErrors,
  secretField,
  version,
} from './fields.ts'

export const clone = defineCapability({
  name: 'git.clone',
  title: 'Clone repository',
  version,
  purpose: 'Clone a repository from an https address into a new folder.',
  when_to_use: 'To update one that is here use git.pull.',
  inputs: z.strictObject({
    url: z.string().min(1).max(2048).describe('https://host/path, without a login in it.'),
    path: folderField('The folder to make; it may be there, but empty'),
    branch: branchField('The branch to check out. Default: the one the remote names.').optional(),
    depth: z
      .int()
      .min(1)
      .max(1_000_000)
      .optional()
      .describe('Only so many of the newest commits. Default: all.'),
    secret: secretField,
  }),
  outputs: z.object({ path: z.string(), default_branch: z.string(), head: headField }),
  tier: 'approval_required',
  effect: 'immediate',
  reach: 'open',
  side_effects: [{ what: 'a new folder with the files of the repository', reversible: true }],
  timeout_seconds: 600,
  undo: () => 'Delete the folder.',
  common_patterns: [
    {
      title: 'Clone with a token',
      arguments: { url: 'https://git.example.org/team/app.git', path: 'app', secret: 'git-token' },
    },
    {
      title: 'Only the newest state',
      arguments: { url: 'https://git.example.org/team/app.git', path: 'app', depth: 1 },
    },
  ],
  errors: [...changeErrors, ...remoteErrors, 'AlreadyExists', 'DirectoryNotEmpty', 'InvalidRef'],
  result_bytes_max: smallResult,
  preview: ({ url, path, branch, depth, secret }, { git }) => {
    const plan = git.planClone(url, path)
    const words = [
      ...['git', 'clone'],
      ...(branch === undefined ? [] : ['--branch', branch]),
      ...(depth === undefined ? [] : ['--depth', String(depth)]),
      ...[plan.url, plan.path],
    ]
    return commandPreview(words, secret === undefined ? '' : `with the secret ${secret}`)
  },
  resolve: async ({ url, path }, { git, files }) => ({
    ...git.planClone(url, path),
    folder: await files.fingerprint(path),
  }),
  run: (ctx, { url, path, ...options }) => ctx.git.clone(url, path, options),
})
