// npm run proof [-- OPTIONS of gatehouse selftest]: the long form of the selftest, hours of it, whose report is kept in
// docs/proof with version, machine and date. Other options make another form, and the report says which.
import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { root, run } from './lib/run.mjs'

const given = process.argv.slice(2)
const options = given.length === 0 ? ['--long'] : given
const folder = path.join(root, 'docs/proof')
const bin = path.join(root, 'packages/cli/bin/gatehouse.js')

const built = await run([process.execPath, path.join(root, 'scripts/build.mjs')])
if (built.code !== 0) process.exit(built.code)
const { stdout, code } = await run([process.execPath, bin, 'selftest', '--json', ...options], {
  capture: true,
})
const report = { options, ...JSON.parse(stdout) }
await mkdir(folder, { recursive: true })
await writeFile(path.join(folder, 'report.json'), `${JSON.stringify(report, null, 2)}\n`)
process.exitCode = code
