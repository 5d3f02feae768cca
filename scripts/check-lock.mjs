// Whether `npm ci` accepts the lock file, on every system, and whether it names no registry.
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { lockGaps } from './lib/lock-gaps.mjs'
import { root } from './lib/run.mjs'

// The package ships its binaries and works without its script, which .npmrc keeps from running.
const harmless = ['node_modules/@photostructure/sqlite']

const { packages } = JSON.parse(readFileSync(path.join(root, 'package-lock.json'), 'utf8'))
const problems = [
  ...lockGaps(packages).map(({ name }) => `${name} is missing: node scripts/complete-lock.mjs`),
  ...Object.entries(packages)
    .filter(([, entry]) => !entry.link && /^https?:/.test(entry.resolved ?? ''))
    .map(([where]) => `${where} names a registry; install with --omit-lockfile-registry-resolved`),
  ...Object.entries(packages)
    .filter(([where, entry]) => entry.hasInstallScript && !harmless.includes(where))
    .map(([where]) => `${where} has an install script`),
]
for (const problem of problems) console.error(problem)
process.exitCode = problems.length > 0 ? 1 : 0
