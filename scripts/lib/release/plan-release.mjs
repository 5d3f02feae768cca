import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { root, run } from '../run.mjs'
import { readChangelog } from './changelog.mjs'
import { prepareRelease } from './prepare-release.mjs'
import { readManifest } from './published.mjs'
import { releaseProblems } from './release-problems.mjs'

const read = (file) => readFileSync(path.join(root, file), 'utf8')

const git = async (...args) => {
  const { code, output } = await run(['git', ...args], { capture: true })
  if (code !== 0) throw new Error(`git ${args.join(' ')} failed:\n${output}`)
  return output.trim()
}

/** Texts that a user of a release reads first. */
const releasedTexts = () =>
  [
    ...['README.md', 'SECURITY.md', 'CHANGELOG.md'],
    ...['packages/cli/README.md', 'packages/client/README.md'],
    ...readdirSync(path.join(root, 'docs/guide')).map((name) => `docs/guide/${name}`),
  ]
    .filter((file) => file.endsWith('.md'))
    .map((file) => ({ file, text: read(file) }))

const manifestsOf = () =>
  ['.', ...readdirSync(path.join(root, 'packages')).map((name) => `packages/${name}`)].map(
    (folder) => ({ folder, manifest: readManifest(folder) }),
  )

/**
 * What a release writes, and what stands in its way. `isPrepared` wants it written already, as a real release does;
 * otherwise the checks are of what --prepare would write.
 */
export const planRelease = async ({ repository, isPrepared, date }) => {
  const changelog = read('CHANGELOG.md')
  const manifest = readManifest('.')
  const { output } = await run(['git', 'remote', 'get-url', 'origin'], { capture: true })
  const prepared = prepareRelease({
    ...{ changelog, manifest, date, repository },
    origin: output.trim(),
  })
  const checked = isPrepared ? { changelog, repository: manifest.repository } : prepared
  const problems = releaseProblems({
    version: manifest.version,
    repository: checked.repository,
    status: await git('status', '--porcelain'),
    tags: (await git('tag', '--list', 'v*')).split('\n'),
    manifests: manifestsOf(),
    changelog: readChangelog(checked.changelog),
    texts: releasedTexts(),
  })
  return { version: manifest.version, prepared, problems }
}
