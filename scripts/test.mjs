// npm test [-- arguments of vitest]: everything from a fresh checkout to the verdict, which is the last
// line: "N passed, N failed", and ", N skipped" where some were.
import './lib/require-node.mjs'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { build } from './lib/build.mjs'
import { countTests } from './lib/count-tests.mjs'
import { ensureInstalled } from './lib/install.mjs'
import { root, run, tools } from './lib/run.mjs'
import { needsOfRun } from './lib/test-needs.mjs'
import { timeReport } from './lib/time-report.mjs'
import { setUpTests } from './test-setup.mjs'

const reportFile = path.join(root, '.cache/test-report.json')
/** A file that is there once all programs are; tests that may ask for one wait for it (scripts/lib/await-programs.mjs). */
const programsFile = path.join(root, `.cache/test-programs-${process.pid}`)

const tell = (missing) => {
  for (const { what, suites } of missing)
    console.error(`Not available: ${what}. Skipped without it: ${suites}.`)
}

/** Whatever came of it, the tests go on. */
const fetchOthers = async (others) => {
  try {
    tell(await others)
  } catch (error) {
    console.error(error)
  } finally {
    await writeFile(programsFile, '')
  }
}

const runTests = async (args) => {
  const { env, missing, others } = await setUpTests(await needsOfRun(args))
  tell(missing)
  const left = args.some((arg) => arg.startsWith('--project'))
    ? []
    : missing.filter((m) => m.project).map((m) => `--project=!${m.project}`)
  await mkdir(path.dirname(reportFile), { recursive: true })
  await rm(reportFile, { force: true })
  const reporters = [
    '--reporter=default',
    '--reporter=./scripts/lib/tell-failures.mjs',
    '--reporter=json',
    `--outputFile.json=${reportFile}`,
  ]
  const [{ code }] = await Promise.all([
    run([...tools.vitest, 'run', ...reporters, ...left, ...args], {
      env: { ...process.env, ...env, GATEHOUSE_TEST_PROGRAMS: programsFile },
    }),
    fetchOthers(others),
  ])
  await rm(programsFile)
  try {
    const report = JSON.parse(await readFile(reportFile, 'utf8'))
    const counted = countTests(report, code)
    for (const trouble of counted.troubles) console.error(trouble)
    if (args.length === 0) for (const line of timeReport(report, root)) console.log(line)
    return counted
  } catch {
    console.error('The test runner ended without a report.')
    return { passed: 0, failed: 1, skipped: 0 }
  }
}

const none = { passed: 0, failed: 0, skipped: 0 }
const installed = (await ensureInstalled()) === 0
// A build whose types are wrong compiles all the same: it is one failure and no reason to run no test.
const ready = installed && (await build()) === 0
const ran = installed ? await runTests(process.argv.slice(2)) : none
const { passed, skipped } = ran
const failed = ran.failed + (ready ? 0 : 1)
if (passed + failed === 0) console.error('No test ran.')
console.log(`${passed} passed, ${failed} failed${skipped ? `, ${skipped} skipped` : ''}`)
process.exitCode = failed > 0 || passed === 0 ? 1 : 0
