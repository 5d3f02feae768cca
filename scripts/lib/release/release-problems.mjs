import { sectionOf } from './changelog.mjs'

/** Words that say that a text waits for somebody. */
const unfinished = /\b(?:TODO|FIXME|TBD|XXX|lorem ipsum|coming soon)\b|<this repository>/i

const unfinishedProblems = (texts) =>
  texts.flatMap(({ file, text }) =>
    text
      .split('\n')
      .map((line, at) => ({ found: unfinished.exec(line)?.[0], line: at + 1 }))
      .filter(({ found }) => found)
      .map(({ found, line }) => `${file}:${line} is unfinished: ${found}`),
  )

const changelogProblems = (sections, version) => {
  const section = sectionOf(sections, version)
  if (section === null)
    return [`CHANGELOG.md has no section [${version}]; npm run release -- --prepare makes it`]
  const problems = []
  if (!/^\d{4}-\d\d-\d\d$/.test(section.date ?? ''))
    problems.push(`the section [${version}] of CHANGELOG.md has no date`)
  if (!/^- /m.test(section.text)) problems.push(`the section [${version}] of CHANGELOG.md is empty`)
  if (!/^### Upgrading\n+\S/m.test(section.text))
    problems.push(`the section [${version}] of CHANGELOG.md has no "### Upgrading"`)
  if (sectionOf(sections, 'Unreleased')?.text)
    problems.push('CHANGELOG.md has text under [Unreleased]')
  return problems
}

const versionProblems = (manifests, version) =>
  manifests.flatMap(({ folder, manifest }) => {
    const own = Object.entries({ ...manifest.dependencies, ...manifest.devDependencies })
      .filter(([name]) => manifests.some((other) => other.manifest.name === name))
      .filter(([, wanted]) => wanted !== version)
      .map(([name, wanted]) => `${folder} wants ${name} ${wanted}, not ${version}`)
    return manifest.version === version
      ? own
      : [`${folder} has version ${manifest.version}, not ${version}`, ...own]
  })

/** What stands in the way of a release, by the name of each check; an empty list is good. */
export const releaseProblems = ({
  version,
  status,
  tags,
  manifests,
  changelog,
  texts,
  repository,
}) => ({
  'clean tree': status === '' ? [] : status.split('\n').map((line) => `not committed: ${line}`),
  'new version': tags.includes(`v${version}`) ? [`the tag v${version} is there already`] : [],
  'equal versions': versionProblems(manifests, version),
  changelog: changelogProblems(changelog, version),
  'finished text': unfinishedProblems(texts),
  provenance: repository
    ? []
    : [
        'the address of the repository is unknown: pass --repository https://… to --prepare or --dry-run, which npm compares with the one that builds',
      ],
})
