// npm start [-- flags of gatehouse serve]: from a fresh checkout to a running server.
import './lib/require-node.mjs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from './lib/build.mjs'
import { ensureInstalled } from './lib/install.mjs'
import { root } from './lib/run.mjs'

/**
 * Ctrl-C under npm arrives twice, from the terminal and from npm. The echo must not end a server that is
 * already stopping in good order; a second Ctrl-C a moment later may.
 */
const swallowEchoes = () => {
  let firstAt = null
  for (const [signal, code] of Object.entries({ SIGINT: 130, SIGTERM: 143 })) {
    process.on(signal, () => {
      const handled = process.listenerCount(signal) > 1
      if (!handled && (firstAt === null || Date.now() - firstAt > 1000)) process.exit(code)
      firstAt ??= Date.now()
    })
  }
}

const failed = (await ensureInstalled()) || (await build())
if (failed) {
  process.exitCode = failed
} else {
  // In this very process: signals, exit code and terminal are the server's own, and no second
  // process stands between them.
  swallowEchoes()
  const command = path.join(root, 'packages/cli/bin/gatehouse.js')
  process.argv = [process.execPath, command, 'serve', ...process.argv.slice(2)]
  await import(pathToFileURL(command).href)
}
