// npm run release [-- --dry-run]: checks, packs and publishes what is committed. See docs/how-to/release.md.
import './lib/require-node.mjs'
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { build } from './lib/build.mjs'
import { ensureInstalled } from './lib/install.mjs'
import { readChangelog } from './lib/release/changelog.mjs'
import { packAll, writeBill } from './lib/release/pack.mjs'
import { readManifest } from './lib/release/published.mjs'
import { releaseProblems } from './lib/release/release-problems.mjs'
import { npm, root, run } from './lib/run.mjs'

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

const isPublished = async ({ name, version }) =>
  (
    await run([...npm, 'view', `${name}@${version}`, 'version'], { capture: true })
  ).output.trim() === version

const publishAll = async (packages, isDryRun) => {
  for (const each of packages) {
    const command = ['publish', each.file, '--access=public', '--provenance', '--ignore-scripts']
    if (isDryRun) console.log(`would run: npm ${command.join(' ')}`)
    // A release that broke off goes on with what is missing.
    else if (await isPublished(each))
      console.log(`${each.name} ${each.version} is published already`)
    else if ((await run([...npm, ...command])).code !== 0) return 1
  }
  return 0
}

const release = async (isDryRun) => {
  const { version, repository } = readManifest('.')
  const problems = releaseProblems({
    ...{ version, repository },
    status: await git('status', '--porcelain'),
    tags: (await git('tag', '--list', 'v*')).split('\n'),
    manifests: manifestsOf(),
    changelog: readChangelog(read('CHANGELOG.md')),
    texts: releasedTexts(),
  })
  for (const [name, found] of Object.entries(problems))
    console.log([`${found.length === 0 ? 'ok  ' : 'FAIL'} ${name}`, ...found].join('\n       '))
  const isReady = Object.values(problems).every((found) => found.length === 0)
  if (!isReady && !isDryRun) return 1

  const failed = (await ensureInstalled()) || (await build(['--clean'])) || (await build())
  if (failed) return failed
  const packages = await packAll()
  for (const each of packages) {
    console.log(
      `${each.file}\n  ${(each.packedBytes / 1e6).toFixed(2)} MB, ${each.files.length} files`,
    )
    console.log(`  ${await writeBill(each)}`)
  }
  const code = await publishAll(packages, isDryRun)
  if (code === 0 && !isDryRun)
    console.log(`Published. Now: git tag --sign v${version} && git push origin v${version}`)
  return isReady ? code : 1
}

const wrong = process.argv.slice(2).filter((word) => word !== '--dry-run')
if (wrong.length > 0) {
  console.error(`npm run release takes --dry-run and nothing else, not ${wrong.join(' ')}`)
  process.exitCode = 2
} else process.exitCode = await release(process.argv.includes('--dry-run'))
