import type { Preview } from '@gatehouse/contract'
import type { PreviewContext } from '../../ports/capability.ts'
import type { GitDiff, MergePlan } from '../../ports/git.ts'
import { counted, previewOrNote, textPreview } from '../text-preview.ts'

export const shortHash = (hash: string): string => hash.slice(0, 12)

export const commitLines = ({
  commits,
  total_commits,
}: Pick<MergePlan, 'commits' | 'total_commits'>): readonly string[] => {
  const more = total_commits - commits.length
  return [
    ...commits.map(
      ({ hash, subject, author_name }) => `  ${shortHash(hash)} ${subject} (${author_name})`,
    ),
    ...(more > 0 ? [`  and ${more} more`] : []),
  ]
}

const filesListed = 200

const changeLines = ({ totals, withheld, patch, files, truncated }: GitDiff): readonly string[] => [
  `${counted(totals.files, 'file')}, +${totals.additions} -${totals.deletions}`,
  ...(withheld > 0
    ? [`${counted(withheld, 'file')} more: policy keeps from this call what they hold.`]
    : []),
  ...(truncated
    ? files.slice(0, filesListed).map(({ path, status }) => `  ${status} ${path}`)
    : []),
  ...(truncated ? ['Not every change is shown below: there are too many.'] : []),
  ...(patch === '' ? [] : [patch]),
]

const shown = (path: string, lines: readonly string[]): Preview => ({
  kind: 'diff',
  path,
  text: lines.join('\n'),
})

const ends = {
  up_to_date: 'Nothing is new: nothing will change.',
  fast_forward: 'The branch moves forward to it, without a merge commit.',
  merge: 'A merge commit is made.',
} as const

const conflictLine = ({ conflicts }: MergePlan): string => {
  if (conflicts === null) return 'Whether there will be conflicts is not known.'
  if (conflicts.length === 0) return 'No conflicts are expected.'
  const names = conflicts.slice(0, 20).join(', ')
  const more = conflicts.length > 20 ? ', …' : ''
  return `Conflicts are expected in ${counted(conflicts.length, 'file')}: ${names}${more}`
}

export const mergePreview = (path: string, ref: string, { git, files }: PreviewContext) =>
  previewOrNote(`Merge ${ref} into the current branch of ${path}.`, async () => {
    const plan = await git.planMerge(path, ref)
    const { into, head, hash, result, total_commits, changes } = plan
    const where = `${into ?? 'a detached head'} (${head === null ? 'no commit yet' : shortHash(head)})`
    return shown(files.resolve(path), [
      `Merge ${ref} (${shortHash(hash)}) into ${where}. ${ends[result]}`,
      ...(result === 'merge' ? [conflictLine(plan)] : []),
      ...(result === 'up_to_date'
        ? []
        : [
            `${counted(total_commits, 'new commit')}:`,
            ...commitLines(plan),
            ...changeLines(changes),
          ]),
    ])
  })

export const restorePreview = (
  path: string,
  names: readonly string[],
  source: string,
  what: string,
  { git, files }: PreviewContext,
) =>
  previewOrNote(what, async () => {
    const { hash, changes, staged } = await git.planRestore(path, names, source)
    const known = new Set(changes.files.map((file) => file.path))
    const onlyStaged = staged.files.filter((file) => !known.has(file.path))
    if (changes.totals.files + changes.withheld + onlyStaged.length === 0)
      return textPreview(what, 'Nothing differs: nothing will change.')
    return shown(files.resolve(path), [
      what,
      `Uncommitted changes are lost. Changes that bring the files back to ${shortHash(hash)}:`,
      ...(onlyStaged.length > 0
        ? [`Staged only, and unstaged again: ${onlyStaged.map((file) => file.path).join(', ')}`]
        : []),
      ...changeLines(changes),
    ])
  })

export type BranchAct = {
  readonly path: string
  readonly action: 'list' | 'create' | 'switch' | 'delete'
  readonly name?: string | undefined
  readonly start_point?: string | undefined
}

const createPreview = async (
  { path, name, start_point = 'HEAD' }: BranchAct,
  { git }: PreviewContext,
): Promise<Preview> => {
  const { commits } = await git.log(path, { limit: 1, offset: 0, ref: start_point })
  const [first] = commits
  return textPreview(
    `Create the branch ${name} in ${path}; the files that are checked out stay.`,
    first
      ? `It begins at ${shortHash(first.hash)} ${first.subject} (${first.author_name})`
      : 'There is no commit yet to begin at, so the call is refused.',
  )
}

const switchPreview = async (
  { path, name = '' }: BranchAct,
  { git, files }: PreviewContext,
): Promise<Preview> => {
  const { head, changes } = await git.planSwitch(path, name)
  return shown(files.resolve(path), [
    `Switch ${path} to the branch ${name} (${shortHash(head)}). Its files differ from those of the current branch in:`,
    ...changeLines(changes),
  ])
}

const deletePreview = async (
  { path, name }: BranchAct,
  { git }: PreviewContext,
): Promise<Preview> => {
  const { branches, current } = await git.branches(path)
  const found = branches.find((branch) => !branch.remote && branch.name === name)
  return textPreview(
    `Delete the branch ${name} of ${path}.`,
    found
      ? `Its newest commit is ${shortHash(found.head)} ${found.subject}, of ${found.committed_at}.`
      : 'There is no such branch now, so the call is refused.',
    name === current && 'It is the current branch, so the call is refused.',
    'Refused where commits of it are on no other branch.',
  )
}

export const branchPreview = (act: BranchAct, ctx: PreviewContext): Promise<Preview> => {
  const { path, action, name } = act
  switch (action) {
    case 'list':
      return Promise.resolve(textPreview(`List the branches of ${path}. Nothing changes.`))
    case 'create':
      return previewOrNote(`Create the branch ${name} in ${path}.`, () => createPreview(act, ctx))
    case 'switch':
      return previewOrNote(`Switch ${path} to the branch ${name}.`, () => switchPreview(act, ctx))
    case 'delete':
      return previewOrNote(`Delete the branch ${name} of ${path}.`, () => deletePreview(act, ctx))
  }
}

export const initPreview = (path: string, branch: string, { files }: PreviewContext) =>
  previewOrNote(`Create a git repository in ${path}.`, async () => {
    const place = files.resolve(path)
    const folder = await files.stat(path)
    const there = folder?.type === 'directory' ? await files.list(path) : null
    const isRepository = there?.entries.some(({ name }) => name === '.git') ?? false
    return textPreview(
      `git init --initial-branch=${branch} ${place}`,
      folder === null && 'The folder is created.',
      there !== null &&
        `Files in the folder stay, and are not committed (names in it: ${there.entries.length}).`,
      isRepository && 'There is a repository already, so the call is refused.',
    )
  })
