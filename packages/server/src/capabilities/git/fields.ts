import type { ErrorType } from '@gatehouse/contract'
import { z } from 'zod'
import { pathArguments } from '../path-argument.ts'

export const version = '1.0'

/** A list in an answer. */
export const list = <T extends z.ZodType>(item: T) => z.array(item).readonly()

export const folderField = (what: string) =>
  z
    .string()
    .min(1)
    .max(4096)
    .describe(`${what}. Absolute inside your folders, or relative to your workspace.`)
    .register(pathArguments, {})

export const repositoryField = folderField('The repository root')

export const refField = (what: string) => z.string().min(1).max(250).describe(what)

export const branchField = (what: string) => z.string().min(1).max(200).describe(what)

/** Places in the repository, so their meaning hangs on `path`, which is what policy sees. */
export const filesField = (what: string) =>
  z.array(z.string().min(1).max(4096)).min(1).max(1000).describe(what)

export const secretField = z
  .string()
  .min(1)
  .max(200)
  .optional()
  .describe(
    'Name of the secret to log in with. It holds a token or user:password, is sent to the host of the remote only, and you never see it. secrets.list shows yours.',
  )

export const remoteField = z
  .string()
  .min(1)
  .max(2048)
  .default('origin')
  .describe('A remote, or an https address.')

const patchBytesDefault = 100_000
const patchBytesMax = 2_000_000

export const patchBytesField = z
  .int()
  .min(0)
  .max(patchBytesMax)
  .default(patchBytesDefault)
  .describe('Longest patch to return; 0 lists the files only.')

/** How many files are listed; `totals` counts all. */
export const filesMax = 1000

export const withheldField = z
  .int()
  .describe('How many files were left out because policy keeps them from this call.')

const pathFields = {
  path: z.string(),
  path_base64: z
    .string()
    .optional()
    .describe(
      'The exact bytes of a name that is not valid UTF-8; path shows it as well as it can.',
    ),
}

export const nameOutput = z.object(pathFields)

export const changeFields = {
  ...pathFields,
  status: z.enum(['added', 'modified', 'deleted', 'renamed', 'copied', 'type_changed', 'unmerged']),
  old_path: z.string().optional().describe('Of a renamed or copied file.'),
}

export const changeOutput = z.object(changeFields)

export const diffOutputs = {
  files: list(
    z.object({
      ...changeFields,
      additions: z.int().nullable().describe('Lines; null for a binary file.'),
      deletions: z.int().nullable(),
    }),
  ),
  patch: z.string().describe('A unified diff. Unusual names are quoted as git does.'),
  totals: z.object({ files: z.int(), additions: z.int(), deletions: z.int() }),
  truncated: z.boolean().describe('Whether files or the patch were cut.'),
  withheld: withheldField,
}

export const commitOutput = z.object({
  hash: z.string(),
  parents: list(z.string()),
  author_name: z.string(),
  author_email: z.string(),
  authored_at: z.string(),
  committer_name: z.string(),
  committed_at: z.string(),
  subject: z.string(),
  body: z.string(),
})

export const headField = z.string().nullable().describe('The newest commit; null without one.')

/** Errors of anything about a repository. */
export const repositoryErrors = [
  'InvalidPath',
  'PathOutOfScope',
  'PathNotPermitted',
  'ProtectedPath',
  'FileNotFound',
  'NotADirectory',
  'NotARepository',
  'UnsafeRepository',
  'UnsafeRepoConfig',
  'GitFailed',
  'SandboxUnavailable',
] as const satisfies readonly ErrorType[]

export const changeErrors = [
  ...repositoryErrors,
  'ReadOnlyRoot',
  'RepoLocked',
  'GitRefused',
] as const satisfies readonly ErrorType[]

export const remoteErrors = [
  'UrlNotAllowed',
  'HostUnreachable',
  'RemoteRefused',
  'SecretNotAllowed',
  'VaultLocked',
] as const satisfies readonly ErrorType[]
