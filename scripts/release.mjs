// npm run release [-- --dry-run | --prepare]: checks, packs and publishes what is committed. See docs/how-to/release.md.
import './lib/require-node.mjs'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { build } from './lib/build.mjs'
import { ensureInstalled } from './lib/install.mjs'
import { packAll, writeBill } from './lib/release/pack.mjs'
import { planRelease } from './lib/release/plan-release.mjs'
import { readManifest } from './lib/release/published.mjs'
import { npm, root, run } from './lib/run.mjs'

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

const showProblems = (problems) => {
  for (const [name, found] of Object.entries(problems))
    console.log([`${found.length === 0 ? 'ok  ' : 'FAIL'} ${name}`, ...found].join('\n       '))
}

/** Writes what a release needs to have committed; the person commits it. */
const prepare = ({ version, prepared: { changelog, repository }, problems }) => {
  const [missing] = problems.provenance
  if (missing) {
    console.error(missing)
    return 1
  }
  writeFileSync(path.join(root, 'CHANGELOG.md'), changelog)
  const manifest = { ...readManifest('.'), repository }
  writeFileSync(path.join(root, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
  console.log(`CHANGELOG.md and package.json are ready for ${version}. Now: npm run check, commit.`)
  return 0
}

const release = async ({ version, prepared, problems }, isDryRun) => {
  showProblems(problems)
  const isReady = Object.values(problems).every((found) => found.length === 0)
  if (!isReady && !isDryRun) return 1

  const failed = (await ensureInstalled()) || (await build(['--clean'])) || (await build())
  if (failed) return failed
  const packages = await packAll({ repository: prepared.repository })
  for (const each of packages) {
    console.log(
      `${each.file}\n  ${(each.packedBytes / 1e6).toFixed(2)} MB, ${each.files.length} files`,
    )
    console.log(`  ${await writeBill(each)}`)
  }
  const code = await publishAll(packages, isDryRun)
  if (code === 0 && !isDryRun)
    console.log(`Published. Now: git tag --sign v${version} && git push origin v${version}`)
  if (!isReady) {
    console.error('Not ready for release:')
    for (const problem of Object.values(problems).flat()) console.error(`  ${problem}`)
  }
  return isReady ? code : 1
}

const main = async () => {
  const { values } = parseArgs({
    options: {
      'dry-run': { type: 'boolean', default: false },
      prepare: { type: 'boolean', default: false },
      repository: { type: 'string' },
    },
  })
  const isDryRun = values['dry-run']
  const plan = await planRelease({
    repository: values.repository,
    isPrepared: !isDryRun && !values.prepare,
    date: new Date().toISOString().slice(0, 10),
  })
  return values.prepare && !isDryRun ? prepare(plan) : release(plan, isDryRun)
}

try {
  process.exitCode = await main()
} catch (error) {
  if (!error.code?.startsWith('ERR_PARSE_ARGS')) throw error
  console.error(`npm run release: ${error.message}`)
  process.exitCode = 2
}
