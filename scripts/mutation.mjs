// npm run mutation [-- FOLDER|FILE[:LINE-LINE]... [--tests FILE,...]]: changes the sources of a folder, or these files alone, in
// one place after the other, and looks whether the tests beside them notice, or those that are named. Lists each change that none
// does. Not part of `npm test`: a folder takes minutes.
import './lib/require-node.mjs'
import { existsSync } from 'node:fs'
import { cp, mkdir, readdir, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { setup as makeFolders } from './lib/folders-of-run.mjs'
import { installForeignProgram } from './lib/foreign-programs.mjs'
import { root, run } from './lib/run.mjs'

const usual = ['packages/server/src/domain/policy']
const programs = path.join(root, 'benchmarks/programs')
const program = path.join(programs, 'stryker/node_modules')
/** A copy of the sources: Stryker writes its changes into them. */
const place = path.join(root, '.cache/mutation')
const scoreMin = 85
/** Tests that start processes or race them for seconds: others of the same folder cover the same lines. */
const leftOut = [
  'packages/server/src/files/kill.test.ts',
  'packages/server/src/files/swapper.test.ts',
]
/** Properties try fewer values, the same in each run, and look for no smaller counterexample: they run for each change. */
const setup = `import { vi } from 'vitest'
vi.mock('fast-check', async (original) => {
  const { default: fc, ...named } = await original()
  const assert = (property, options) =>
    fc.assert(property, { ...options, numRuns: 20, seed: 1, endOnFailure: true })
  return { ...named, assert, default: { ...fc, assert } }
})
`

const scoped = async (folder) =>
  (await readdir(folder))
    .filter((name) => !name.startsWith('.'))
    .map((name) => path.join(folder, name))

/** Names of packages in a `node_modules`, those with a scope included. */
const packagesIn = async (folder) => {
  const all = await scoped(folder)
  const nested = await Promise.all(
    all.filter((file) => path.basename(file).startsWith('@')).map(scoped),
  )
  return [...all.filter((file) => !path.basename(file).startsWith('@')), ...nested.flat()].map(
    (file) => path.relative(folder, file),
  )
}

/** The modules of Stryker, and of ours those that it has not: each finds the versions that it needs. */
const linkModules = async () => {
  const modules = path.join(place, 'node_modules')
  await cp(await realpath(program), modules, {
    recursive: true,
    dereference: false,
    verbatimSymlinks: true,
  })
  const ours = path.join(root, 'node_modules')
  for (const name of await packagesIn(ours)) {
    const link = path.join(modules, name)
    if (existsSync(link)) continue
    await mkdir(path.dirname(link), { recursive: true })
    // Packages of this project are those of the copy.
    const target = name.startsWith('@gatehouse/') ? `packages/${name.slice(11)}` : null
    await symlink(target ? path.join(place, target) : path.join(ours, name), link)
  }
}

/** Files that are given alone, by their folder; a folder that is given whole has none. */
const byFolder = (given) => {
  const all = new Map()
  for (const name of given.map((one) => path.normalize(one).replace(/\/$/, ''))) {
    const folder = /\.ts(:|$)/.test(name) ? path.dirname(name) : name
    const files = all.get(folder) ?? []
    all.set(folder, name === folder ? files : [...files, name])
  }
  return all
}

const configOf = (folder, files) => ({
  testRunner: 'vitest',
  plugins: ['@stryker-mutator/vitest-runner'],
  vitest: { configFile: 'vitest.config.mjs', related: false },
  mutate:
    files.length > 0 ? files : [`${folder}/*.ts`, `!${folder}/*.test.ts`, `!${folder}/testing.ts`],
  concurrency: 1,
  inPlace: true,
  ignoreStatic: true,
  coverageAnalysis: 'perTest',
  // Of a mutant, beside one and a half times what its tests take: endless loops wait for it, and are many.
  timeoutMS: 8_000,
  incremental: true,
  incrementalFile: path.join(root, '.cache', `mutation-${folder.replaceAll('/', '-')}.json`),
  reporters: ['clear-text', 'progress-append-only'],
  clearTextReporter: { allowColor: false, reportTests: false },
  thresholds: { high: scoreMin, low: scoreMin, break: scoreMin },
})

/** Sources as they are written, not the files that were compiled from them, so that changes are seen. */
const vitestOf = (folder, tests) => `import { defineConfig } from 'vitest/config'
const conditions = ['gatehouse-source', 'node']
export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    include: ${JSON.stringify(tests ?? [`${folder}/*.test.ts`])},
    exclude: ${JSON.stringify(leftOut)},
    setupFiles: ['./setup.mjs'],
    isolate: false,
    testTimeout: 60_000,
  },
})
`

const { values, positionals: given } = parseArgs({
  options: { tests: { type: 'string' } },
  allowPositionals: true,
})
if (!(await installForeignProgram('stryker', { folder: programs }))) {
  console.error('Stryker could not be fetched (npm).')
  process.exit(1)
}
const removeFolders = makeFolders()
let worst = 0
for (const [folder, files] of byFolder(given.length > 0 ? given : usual)) {
  await rm(place, { recursive: true, force: true })
  await mkdir(place, { recursive: true })
  const isSource = (file) => !/\/(dist|node_modules)(\/|$)/.test(path.relative(root, file))
  await cp(path.join(root, 'packages'), path.join(place, 'packages'), {
    recursive: true,
    filter: isSource,
  })
  // Some tests compare what they find with what it says.
  const python = 'scripts/verify_audit.py'
  await cp(path.join(root, python), path.join(place, python))
  // The configuration of each package goes on from it.
  await cp(path.join(root, 'tsconfig.base.json'), path.join(place, 'tsconfig.base.json'))
  await linkModules()
  await writeFile(path.join(place, 'package.json'), '{ "type": "module" }\n')
  await writeFile(path.join(place, 'stryker.config.json'), JSON.stringify(configOf(folder, files)))
  await writeFile(path.join(place, 'setup.mjs'), setup)
  await writeFile(path.join(place, 'vitest.config.mjs'), vitestOf(folder, values.tests?.split(',')))
  const stryker = path.join(place, 'node_modules/@stryker-mutator/core/bin/stryker.js')
  const { code } = await run([process.execPath, stryker, 'run', 'stryker.config.json'], {
    cwd: place,
  })
  worst = Math.max(worst, code)
}
removeFolders()
process.exitCode = worst
