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

/** By name. `after` names the step whose output a step reads. */
const steps = {
  build: { command: script('build') },
  // Types across packages are read from what the build writes: without it, all of them are `any`.
  lint: { command: script('check-lint'), after: 'build' },
  types: { command: [...tools.tsc, '-p', 'tsconfig.tests.json'], after: 'build' },
  tools: { command: [...tools.tsc, '-p', 'tsconfig.tools.json'], after: 'build' },
  'dead code': { command: [...tools.knip, '--no-progress', '--no-config-hints'] },
  format: { command: [...biome('check'), '--linter-enabled=false', '.'] },
  // Tests take their runner from the root; what ships declares all that it imports.
  dependencies: {
    command: [
      ...biome('lint'),
      '--only=correctness/noUndeclaredDependencies',
      ...sourceFiles().map(({ file }) => file),
    ],
  },
  reference: { command: script('generate', '--check'), after: 'build' },
  layers: { command: script('check-layers') },
  security: { command: script('check-security') },
  lock: { command: script('check-lock') },
  links: { command: script('check-links') },
  comments: { command: script('check-comments') },
  tests: { command: script('check-tests') },
}

const runStep = async (name) => {
  const started = Date.now()
  const { code, output } = await run(steps[name].command, { capture: true })
  const seconds = ((Date.now() - started) / 1000).toFixed(1)
  console.log(`${code === 0 ? 'ok  ' : 'FAIL'} ${name} (${seconds} s)`)
  if (code !== 0) console.log(`${output.trim()}\n`)
  return code === 0
}

/** Two at a time, the long ones first; a step waits for the one whose output it reads. Returns those that failed. */
const checkAll = async (names) => {
  const ended = new Map()
  const left = [...names]
  const isReady = (name) => {
    const { after } = steps[name]
    return !after || !names.includes(after) || ended.has(after)
  }
  const worker = async () => {
    while (left.length > 0) {
      const at = left.findIndex(isReady)
      if (at < 0) {
        await Promise.race(running.values())
        continue
      }
      const [name] = left.splice(at, 1)
      const ending = runStep(name)
      running.set(name, ending)
      ended.set(name, await ending)
      running.delete(name)
    }
  }
  const running = new Map()
  await Promise.all([worker(), worker()])
  return names.filter((name) => !ended.get(name))
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
