// npm run docs [-- FOLDER]: the documents as a site that any web server can serve.
import './lib/require-node.mjs'
import path from 'node:path'
import { build } from './lib/build.mjs'
import { writeDocsSite } from './lib/docs-folder.mjs'
import { ensureInstalled } from './lib/install.mjs'
import { root } from './lib/run.mjs'

const [into = path.join(root, '.cache/docs-site')] = process.argv.slice(2)
const failed = (await ensureInstalled()) || (await build())
if (failed) process.exitCode = failed
else {
  const folder = path.resolve(into)
  const pages = writeDocsSite(folder)
  console.log(`${pages.length} pages in ${folder}; start with index.html`)
}
