import { expect, test } from 'vitest'
import { readChangelog } from './changelog.mjs'
import { releaseProblems } from './release-problems.mjs'

const changelog = `# Changelog

## [Unreleased]

## [1.2.0] - 2026-12-01

### Added

- A thing.

### Upgrading

Nothing to do.

## [1.1.0] - 2026-11-01

- Before.
`

const ready = {
  version: '1.2.0',
  repository: { type: 'git', url: 'git+https://git.example/gatehouse.git' },
  status: '',
  tags: ['v1.1.0'],
  manifests: [
    { folder: '.', manifest: { name: 'root', version: '1.2.0' } },
    {
      folder: 'packages/a',
      manifest: { name: 'a', version: '1.2.0', dependencies: { b: '1.2.0', zod: '4.6.7' } },
    },
    { folder: 'packages/b', manifest: { name: 'b', version: '1.2.0' } },
  ],
  changelog: readChangelog(changelog),
  texts: [{ file: 'README.md', text: '# Gatehouse\n\nRead the to-do list of an agent.\n' }],
}

const found = (changes) =>
  Object.entries(releaseProblems({ ...ready, ...changes }))
    .filter(([, problems]) => problems.length > 0)
    .map(([name]) => name)

test('finds nothing against a release that is ready', () => {
  expect(found({})).toEqual([])
})

test('refuses what is not committed, released already, or without a repository', () => {
  expect(found({ status: ' M README.md' })).toEqual(['clean tree'])
  expect(found({ tags: ['v1.2.0'] })).toEqual(['new version'])
  expect(found({ repository: undefined })).toEqual(['provenance'])
})

test('refuses a package of another version, and one that wants another', () => {
  const [root, a, b] = ready.manifests
  const old = { ...b, manifest: { ...b.manifest, version: '1.1.0' } }
  expect(found({ manifests: [root, a, old] })).toEqual(['equal versions'])
  const wants = { ...a, manifest: { ...a.manifest, dependencies: { b: '1.1.0' } } }
  expect(found({ manifests: [root, wants, b] })).toEqual(['equal versions'])
})

test('refuses a changelog without this version, its date, its content or how to upgrade', () => {
  for (const [from, to] of [
    ['[1.2.0]', '[1.3.0]'],
    [' - 2026-12-01', ''],
    ['- A thing.', 'A thing.'],
    ['### Upgrading\n\nNothing to do.', ''],
    ['### Upgrading\n\nNothing to do.', '### Upgrading\n'],
    ['[Unreleased]\n', '[Unreleased]\n\n- Something more.\n'],
  ])
    expect([to, found({ changelog: readChangelog(changelog.replace(from, to)) })]).toEqual([
      to,
      ['changelog'],
    ])
})

test('refuses unfinished text, by file and line', () => {
  const texts = [{ file: 'docs/guide/install.md', text: 'One.\n\nTODO: say more.\n' }]
  expect(releaseProblems({ ...ready, texts })['finished text']).toEqual([
    'docs/guide/install.md:3 is unfinished: TODO',
  ])
})
