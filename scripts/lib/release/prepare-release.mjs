import { readChangelog, sectionOf } from './changelog.mjs'

const unreleased = '## [Unreleased]\n'
const nothingToDo = '### Upgrading\n\nNothing to do: this is the first release.\n'

/** The changelog with what stands under Unreleased as the section of this version; unchanged where that is done. */
const releasedChangelog = (text, version, date) => {
  const sections = readChangelog(text)
  const pending = sectionOf(sections, 'Unreleased')?.text
  if (!pending || sectionOf(sections, version)) return text
  const isFirst = sections.length === 1
  const isComplete = /^### Upgrading$/m.test(pending) || !isFirst
  const [before, after] = text.split(unreleased)
  const body = isComplete ? after.trim() : `${after.trim()}\n\n${nothingToDo.trim()}`
  return `${before}${unreleased}\n## [${version}] - ${date}\n\n${body}\n`
}

/** An address as npm compares it with the place of the build; null for a folder of this machine and the like. */
export const repositoryOf = (address) => {
  const url = address?.replace(/^git@([^:]+):/, 'ssh://git@$1/')
  return /^(?:git\+)?(?:https|ssh):\/\/[^\s]+$/.test(url ?? '')
    ? { type: 'git', url: url.startsWith('git+') ? url : `git+${url}` }
    : null
}

/**
 * What a release writes before it is committed: the section of the changelog, and the address of the repository.
 * The address is the one that is given, else that of package.json, else that of the remote `origin`.
 */
export const prepareRelease = ({ changelog, manifest, date, repository, origin }) => ({
  changelog: releasedChangelog(changelog, manifest.version, date),
  repository: repository ? repositoryOf(repository) : (manifest.repository ?? repositoryOf(origin)),
})
