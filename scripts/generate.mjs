// npm run generate [-- --check]: writes the reference pages from the built code. With --check it only
// compares, and names every page that is stale. Each page is one module in scripts/generate.
import './lib/require-node.mjs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { capabilities } from './generate/capabilities.mjs'
import { catalog } from './generate/catalog.mjs'
import { cli } from './generate/cli.mjs'
import { clientCapabilities } from './generate/client-capabilities.mjs'
import { clientErrors } from './generate/client-errors.mjs'
import { clientRoutes } from './generate/client-routes.mjs'
import { config } from './generate/config.mjs'
import { errors } from './generate/errors.mjs'
import { layers } from './generate/layers.mjs'
import { mcp } from './generate/mcp.mjs'
import { openapi } from './generate/openapi.mjs'
import { policy } from './generate/policy.mjs'
import { rpc } from './generate/rpc.mjs'
import { build } from './lib/build.mjs'
import { root } from './lib/run.mjs'

/** Each has the file it writes and a function that makes its text. */
const pages = [
  errors,
  layers,
  capabilities,
  config,
  policy,
  cli,
  rpc,
  mcp,
  openapi,
  clientRoutes,
  clientCapabilities,
  clientErrors,
  catalog,
]

const checking = process.argv.includes('--check')

const writePage = async ({ file, render }) => {
  const target = path.join(root, file)
  const text = await render()
  const stands = await readFile(target, 'utf8').catch(() => null)
  if (stands === text) return
  if (checking) {
    console.error(`${file} is stale; run: npm run generate`)
    process.exitCode = 1
    return
  }
  await mkdir(path.dirname(target), { recursive: true })
  await writeFile(target, text)
  console.log(`wrote ${file}`)
}

if ((await build()) !== 0) process.exitCode = 1
else {
  for (const page of pages) {
    // One page that cannot be made does not keep the others from being compared.
    await writePage(page).catch((error) => {
      console.error(`${page.file} cannot be made: ${error.stack}`)
      process.exitCode = 1
    })
  }
}
