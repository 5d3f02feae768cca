import { expect, test } from 'vitest'
import { readChangelog, sectionOf } from './changelog.mjs'
import { planRelease } from './plan-release.mjs'
import { prepareRelease } from './prepare-release.mjs'

const first = '# Changelog\n\n## [Unreleased]\n\n### Added\n\n- A thing.\n'
const later = `${first}\n### Upgrading\n\nStop it before.\n\n## [1.0.0] - 2026-01-01\n\n- Before.\n`
const base = { manifest: { version: '1.1.0' }, date: '2026-12-01' }
const address = 'https://git.example/ana/gatehouse.git'

test('moves what is unreleased into the section of the version', () => {
  const { changelog } = prepareRelease({ ...base, changelog: later })
  const sections = readChangelog(changelog)
  expect(sections.map(({ version, date }) => [version, date])).toEqual([
    ['Unreleased', null],
    ['1.1.0', '2026-12-01'],
    ['1.0.0', '2026-01-01'],
  ])
  expect(sectionOf(sections, 'Unreleased').text).toBe('')
  expect(sectionOf(sections, '1.1.0').text).toContain('Stop it before.')
  expect(prepareRelease({ ...base, changelog })).toMatchObject({ changelog })
})

test('says how to upgrade for a first release only: a later one must say it itself', () => {
  const upgrading = (changelog) =>
    sectionOf(readChangelog(prepareRelease({ ...base, changelog }).changelog), '1.1.0').text
  expect(upgrading(first)).toContain('### Upgrading\n\nNothing to do: this is the first release.')
  const silent = later.replace('### Upgrading\n\nStop it before.\n', '')
  expect(upgrading(silent)).not.toContain('### Upgrading')
})

test('knows the repository by the option, else by package.json, else by the remote', () => {
  const find = (given) =>
    prepareRelease({ ...base, changelog: first, ...given }).repository?.url ?? null
  const manifest = { version: '1.1.0', repository: { type: 'git', url: 'git+https://own.example' } }
  expect(find({ repository: address, manifest })).toBe(`git+${address}`)
  expect(find({ manifest, origin: address })).toBe('git+https://own.example')
  expect(find({ origin: 'git@git.example:ana/gatehouse.git' })).toBe(
    'git+ssh://git@git.example/ana/gatehouse.git',
  )
  expect(find({ origin: '/srv/git/gatehouse' })).toBeNull()
  expect(find({ repository: 'nowhere' })).toBeNull()
})

test('this checkout could be released, once it is committed', async () => {
  const plan = { repository: address, isPrepared: false, date: '2026-12-01' }
  const { 'clean tree': _dirty, ...problems } = (await planRelease(plan)).problems
  // Between a release and the next version there is nothing to release yet.
  if (problems['new version'].length > 0)
    Object.assign(problems, { 'new version': [], changelog: [] })
  expect(Object.values(problems).flat()).toEqual([])
})
