// npm start [-- flags of gatehouse serve]: from a fresh checkout to a running server.
import './lib/require-node.mjs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from './lib/build.mjs'
import { ensureInstalled } from './lib/install.mjs'
import { root } from './lib/run.mjs'

const failed = (await ensureInstalled()) || (await build())
if (failed) {
  process.exitCode = failed
} else {
  // In this very process: signals, exit code and terminal are the server's own, and no second
  // process stands between them.
  const command = path.join(root, 'packages/cli/bin/gatehouse.js')
  process.argv = [process.execPath, command, 'serve', ...process.argv.slice(2)]
  await import(pathToFileURL(command).href)
}
