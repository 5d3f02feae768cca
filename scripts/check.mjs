// npm run check [-- step…]: everything a reviewer should not have to look for. Each step runs even if
// an earlier one failed.
import './lib/require-node.mjs'
import { sourceFiles } from './lib/files.mjs'
import { ensureInstalled } from './lib/install.mjs'
import { run, tools } from './lib/run.mjs'

const script = (name, ...args) => [process.execPath, `scripts/${name}.mjs`, ...args]

const biome = (command) => [
  ...tools.biome,
  command,
  '--diagnostic-level=error',
  '--max-diagnostics=200',
]

/** In this order: the reference is drawn from what the types step builds. */
const steps = {
  format: [...biome('check'), '--linter-enabled=false', '.'],
  // Tests take their runner from the root; what ships declares all that it imports.
  dependencies: [
    ...biome('lint'),
    '--only=correctness/noUndeclaredDependencies',
    ...sourceFiles().map(({ file }) => file),
  ],
  lock: script('check-lock'),
  lint: [...tools.oxlint, '--type-aware', '--quiet', '--threads=2'],
  layers: script('check-layers'),
  build: [...tools.tsc, '-b'],
  types: [...tools.tsc, '-p', 'tsconfig.tests.json'],
  'dead code': [...tools.knip, '--no-progress', '--no-config-hints'],
  reference: script('generate', '--check'),
}

const checkAll = async (names) => {
  const failed = []
  for (const name of names) {
    const started = Date.now()
    const { code, output } = await run(steps[name], { capture: true })
    const seconds = ((Date.now() - started) / 1000).toFixed(1)
    console.log(`${code === 0 ? 'ok  ' : 'FAIL'} ${name} (${seconds} s)`)
    if (code === 0) continue
    failed.push(name)
    console.log(`${output.trim()}\n`)
  }
  return failed
}

const wanted = process.argv.slice(2)
const unknown = wanted.filter((name) => !(name in steps))
if (unknown.length > 0) {
  console.error(
    `There is no step ${unknown.join(', ')}; there are: ${Object.keys(steps).join(', ')}`,
  )
  process.exitCode = 2
} else if (await ensureInstalled()) {
  process.exitCode = 1
} else {
  const failed = await checkAll(wanted.length > 0 ? wanted : Object.keys(steps))
  console.log(failed.length > 0 ? `Failed: ${failed.join(', ')}` : 'All checks passed.')
  process.exitCode = failed.length > 0 ? 1 : 0
}
