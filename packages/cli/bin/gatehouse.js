#!/usr/bin/env node
// Written so that an old Node can still read it and say what is wrong. CommonJS, which a hook need not load more than.
const { existsSync } = require('node:fs')
const nodeModule = require('node:module')
const path = require('node:path')
const { pathToFileURL } = require('node:url')

const wanted = [20, 20]
const have = process.versions.node.split('.').map(Number)
const args = process.argv.slice(2)
// A client runs a tool of its own unless its hook ends with 2.
const failed = args[0] === 'hook' ? 2 : 1
const isHook = args[0] === 'hook' && !args.includes('--help') && !args.includes('-h')
const bundle = path.join(__dirname, '../dist/bundle')
const main = path.join(bundle, isHook ? 'hook-main.cjs' : 'main.js')

if (have[0] < wanted[0] || (have[0] === wanted[0] && have[1] < wanted[1])) {
  process.stderr.write(
    `gatehouse needs Node ${wanted.join('.')} or newer; this is ${process.versions.node}.\n`,
  )
  process.exitCode = failed
} else if (!existsSync(main)) {
  process.stderr.write('gatehouse is not built yet: run `npm run build` in the checkout.\n')
  process.exitCode = failed
} else {
  // Node 22 and newer keep compiled code between starts.
  if (nodeModule.enableCompileCache) nodeModule.enableCompileCache()
  const load = isHook ? async () => require(main) : () => import(pathToFileURL(main).href)
  load()
    .then(({ main }) => main())
    .catch((error) => {
      process.stderr.write(`gatehouse cannot start: ${error.message}\n`)
      process.exitCode = failed
    })
}
