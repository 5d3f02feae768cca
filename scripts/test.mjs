// npm test [-- arguments of vitest]: everything from a fresh checkout to the verdict, which is the last
// line: "N passed, N failed", and ", N skipped" where some were.
import './lib/require-node.mjs'
import { mkdir, readFile, rm } from 'node:fs/promises'
import path from 'node:path'
import { build } from './lib/build.mjs'
import { ensureInstalled } from './lib/install.mjs'
import { root, run, tools } from './lib/run.mjs'
import { setUpTests } from './test-setup.mjs'

const reportFile = path.join(root, '.cache/test-report.json')

/** Counts tests, and as one failure each: a file that did not load, and an error outside of any test. */
const count = (report, vitestCode) => {
  const tests = report.testResults.flatMap((file) => file.assertionResults)
  const of = (...states) => tests.filter((test) => states.includes(test.status)).length
  const unloaded = report.testResults.filter(
    (file) => file.status === 'failed' && !file.assertionResults.some((t) => t.status === 'failed'),
  )
  for (const file of unloaded) console.error(`Failed as a file: ${path.relative(root, file.name)}`)
  const failed = of('failed') + unloaded.length
  const stray = vitestCode !== 0 && failed === 0
  if (stray) console.error('Failed outside of the tests; see the errors above.')
  return {
    passed: of('passed'),
    failed: failed + (stray ? 1 : 0),
    skipped: of('skipped', 'pending', 'todo', 'disabled'),
  }
}

const runTests = async (args) => {
  const { env, missing } = await setUpTests()
  for (const { what, suites } of missing) {
    console.error(`Not available: ${what}. Skipped without it: ${suites}.`)
  }
  const left = args.some((arg) => arg.startsWith('--project'))
    ? []
    : missing.filter((m) => m.project).map((m) => `--project=!${m.project}`)
  await mkdir(path.dirname(reportFile), { recursive: true })
  await rm(reportFile, { force: true })
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${reportFile}`]
  const { code } = await run([...tools.vitest, 'run', ...reporters, ...left, ...args], {
    env: { ...process.env, ...env },
  })
  try {
    return count(JSON.parse(await readFile(reportFile, 'utf8')), code)
  } catch {
    console.error('The test runner ended without a report.')
    return { passed: 0, failed: 1, skipped: 0 }
  }
}

const none = { passed: 0, failed: 0, skipped: 0 }
const installed = (await ensureInstalled()) === 0
// Tests run from the sources, so a build that fails is one failure and no reason to run none.
const ready = installed && (await build()) === 0
const ran = installed ? await runTests(process.argv.slice(2)) : none
const { passed, skipped } = ran
const failed = ran.failed + (ready ? 0 : 1)
if (passed + failed === 0) console.error('No test ran.')
console.log(`${passed} passed, ${failed} failed${skipped ? `, ${skipped} skipped` : ''}`)
process.exitCode = failed > 0 || passed === 0 ? 1 : 0
