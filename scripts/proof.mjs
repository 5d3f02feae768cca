// npm run proof [-- OPTIONS of gatehouse selftest]: the long form of the selftest, hours of it, whose report is kept in
// docs/proof with version, machine and date. Other options make another form, and the report says which; `--usual` is the
// form of minutes.
import path from 'node:path'
import { keepReport } from './lib/keep-report.mjs'
import { root, run } from './lib/run.mjs'

const given = process.argv.slice(2)
const options = given.length === 0 ? ['--long'] : given.filter((option) => option !== '--usual')

const built = await run([process.execPath, path.join(root, 'scripts/build.mjs')])
if (built.code !== 0) process.exit(built.code)
process.exitCode = await keepReport(options, path.join(root, 'docs/proof'))
