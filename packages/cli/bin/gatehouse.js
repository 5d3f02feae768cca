#!/usr/bin/env node
// Written so that an old Node can still read it and say what is wrong.
import { existsSync } from 'node:fs'
import * as nodeModule from 'node:module'

const wanted = [20, 20]
const have = process.versions.node.split('.').map(Number)
// A client runs a tool of its own unless its hook ends with 2.
const isHook = process.argv[2] === 'hook'
const failed = isHook ? 2 : 1
const main = isHook
  ? new URL('../dist/bundle/hook-main.js', import.meta.url)
  : new URL('../dist/bundle/main.js', import.meta.url)

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
  import(main.href)
    .then(({ main }) => main())
    .catch((error) => {
      process.stderr.write(`gatehouse cannot start: ${error.message}\n`)
      process.exitCode = failed
    })
}
