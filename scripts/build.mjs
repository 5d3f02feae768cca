// npm run build [-- --clean]: installs what is missing and compiles what has changed.
import './lib/require-node.mjs'
import { build } from './lib/build.mjs'
import { ensureInstalled } from './lib/install.mjs'

const clean = process.argv.includes('--clean')
process.exitCode =
  (await ensureInstalled()) || (clean ? await build(['--clean']) : 0) || (await build())
