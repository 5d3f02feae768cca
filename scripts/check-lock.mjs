// Whether `npm ci` accepts the lock files, on every system, and whether they name no registry.
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { lockGaps } from './lib/lock-gaps.mjs'
import { lockedFolders } from './lib/locked-folders.mjs'
import { root } from './lib/run.mjs'

// The package ships its binaries and works without its script, which .npmrc keeps from running.
const harmless = ['node_modules/@photostructure/sqlite']

const read = (folder, file) => JSON.parse(readFileSync(path.join(root, folder, file), 'utf8'))

const problemsOf = (folder) => {
  const { packages } = read(folder, 'package-lock.json')
  return [
    ...lockGaps(packages).map(({ name }) => `${name} is missing: node scripts/complete-lock.mjs`),
    ...Object.entries(packages)
      .filter(([, entry]) => !entry.link && /^https?:/.test(entry.resolved ?? ''))
      .map(
        ([where]) => `${where} names a registry; install with --omit-lockfile-registry-resolved`,
      ),
  ]
}

/** Of the project's own dependencies. Programs that tests run are installed without running anything. */
const scriptProblems = () =>
  Object.entries(read('.', 'package-lock.json').packages)
    .filter(([where, entry]) => entry.hasInstallScript && !harmless.includes(where))
    .map(([where]) => `${where} has an install script`)

const rangeProblems = (folder) => {
  const { dependencies, optionalDependencies } = read(folder, 'package.json')
  return Object.entries({ ...dependencies, ...optionalDependencies })
    .filter(([, version]) => !/^\d+\.\d+\.\d+[\w.+-]*$/.test(version))
    .map(([name, version]) => `${name} is ${version}, which is no exact version`)
}

const folders = lockedFolders()
const problems = [
  ...folders.flatMap((folder) => problemsOf(folder).map((problem) => `${folder}: ${problem}`)),
  ...scriptProblems(),
  ...folders.flatMap((folder) => rangeProblems(folder).map((problem) => `${folder}: ${problem}`)),
]
for (const problem of problems) console.error(problem)
process.exitCode = problems.length > 0 ? 1 : 0
