import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { root, run, tools } from './run.mjs'
import { sourceHash } from './source-hash.mjs'

const page = path.join(root, 'packages/dashboard')
const pageStamp = path.join(page, 'dist/.built-from')

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

const command = path.join(root, 'packages/cli')
const commandStamp = path.join(command, 'dist/bundle/.built-from')

/** What the command is made of: our own packages in it, and the versions of its libraries. */
const commandSources = [
  ...['cli', 'contract', 'rest-client', 'server'].map((name) => `packages/${name}/src`),
  'packages/cli/vite.config.mjs',
  'packages/cli/vite.hook.config.mjs',
  'package-lock.json',
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

/** Bundles a package where something it is made of has changed. Returns the exit code. */
const bundle = async (cwd, stamp, sources, configs = ['vite.config.ts']) => {
  const made = sourceHash(sources)
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === made) return 0
  // A run of the tests is another environment, in which the libraries would be those for development.
  const env = { ...process.env, NODE_ENV: 'production' }
  for (const config of configs) {
    const line = [...tools.vite, 'build', '--logLevel', 'warn', '--config', config]
    const { code } = await run(line, { cwd, env })
    if (code !== 0) return code
  }
  writeFileSync(stamp, made)
  return 0
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

const weekMs = 7 * 86_400_000

/** Removes files of builds that no service runs any more: those of the last week may still be loaded by one. */
const removeOldParts = (folder) => {
  const manifest = JSON.parse(readFileSync(path.join(folder, '.vite/manifest.json'), 'utf8'))
  const current = new Set(Object.values(manifest).map(({ file }) => file))
  for (const name of readdirSync(folder).filter((each) => each.endsWith('.js'))) {
    const file = path.join(folder, name)
    if (!current.has(name) && Date.now() - statSync(file).mtimeMs > weekMs) rmSync(file)
  }
}

const buildCommand = async () => {
  const configs = ['vite.config.mjs', 'vite.hook.config.mjs']
  const code = await bundle(command, commandStamp, commandSources, configs)
  if (code === 0) removeOldParts(path.dirname(commandStamp))
  return code
}

/** Compiles what has changed since the last time. Returns the exit code. */
export const build = async (options = []) => {
  const isClean = options.includes('--clean')
  const [{ code: typesCode }, pageCode] = await Promise.all([
    run([...tools.tsc, '-b', ...options]),
    isClean ? 0 : bundle(page, pageStamp, pageSources),
  ])
  // Code whose types are wrong is compiled all the same, and so it is bundled.
  const commandCode = isClean ? 0 : await buildCommand()
  if (pageCode === 0 && !isClean) await buildDocs()
  const code = typesCode || pageCode || commandCode
  if (code !== 0) console.error('The build failed; see the messages above.')
  return code
}
