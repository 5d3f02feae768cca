// npm run bench [-- --json --rounds 3 --seconds 5 --only P1,P5]: installs, builds, and measures.
import './lib/require-node.mjs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from './lib/build.mjs'
import { ensureInstalled } from './lib/install.mjs'
import { root } from './lib/run.mjs'

const failed = (await ensureInstalled()) || (await build())
if (failed) process.exitCode = failed
else await import(pathToFileURL(path.join(root, 'benchmarks/run.mjs')).href)
