import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { root, run, tools } from './run.mjs'
import { sourceHash } from './source-hash.mjs'

const page = path.join(root, 'packages/dashboard')
const stamp = path.join(page, 'dist/.built-from')

/** What the page is made of: its own files, the packages in it, and the versions of its libraries. */
const pageSources = [
  'packages/dashboard/src',
  'packages/dashboard/public',
  'packages/dashboard/index.html',
  'packages/dashboard/vite.config.ts',
  'packages/dashboard/package.json',
  'packages/contract/src',
  'packages/rest-client/src',
]

const docsStamp = path.join(page, 'dist/docs/.built-from')

const docsSources = [
  ...[
    'docs',
    'examples',
    'benchmarks',
    'README.md',
    'CHANGELOG.md',
    'CONTRIBUTING.md',
    'SECURITY.md',
  ],
  ...['docs-site.mjs', 'markdown.mjs', 'broken-links.mjs', 'files.mjs'].map(
    (name) => `scripts/lib/${name}`,
  ),
]

/** Bundles the page where something it is made of has changed. Returns the exit code. */
const buildPage = async () => {
  const made = sourceHash(pageSources)
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === made) return 0
  // A run of the tests is another environment, in which the libraries of the page would be those for development.
  const env = { ...process.env, NODE_ENV: 'production' }
  const { code } = await run([...tools.vite, 'build', '--logLevel', 'warn'], { cwd: page, env })
  if (code === 0) writeFileSync(stamp, made)
  return code
}

/** Makes the documents that the page serves, where one of them has changed or the page was bundled anew. */
const buildDocs = async () => {
  const made = sourceHash(docsSources)
  if (existsSync(docsStamp) && readFileSync(docsStamp, 'utf8') === made) return
  // Loaded here: before the first installation there is no library to read Markdown with.
  const { buildDocsSite } = await import('./docs-site.mjs')
  buildDocsSite(path.join(page, 'dist/docs'))
  writeFileSync(docsStamp, made)
}

/** Compiles what has changed since the last time. Returns the exit code. */
export const build = async (options = []) => {
  const [{ code }, pageCode] = await Promise.all([
    run([...tools.tsc, '-b', ...options]),
    options.includes('--clean') ? 0 : buildPage(),
  ])
  if (pageCode === 0 && !options.includes('--clean')) await buildDocs()
  if (code !== 0 || pageCode !== 0) console.error('The build failed; see the messages above.')
  return code || pageCode
}
