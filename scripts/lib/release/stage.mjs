import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { specifiersIn, withoutComments } from '../imports.mjs'
import { root } from '../run.mjs'
import { lockSubset } from './lock-subset.mjs'
import { manPages } from './man-pages.mjs'
import { parts, publishedManifest, readManifest } from './published.mjs'
import { rewriteImports } from './rewrite-imports.mjs'
import { thirdPartyNotices } from './third-party-notices.mjs'

const isCode = (file) => /\.m?js$/.test(file)
/** Types, maps and the state of the compiler are for those who work on it. */
const isShipped = (file) =>
  !/\.d\.ts$|\.map$|\.tsbuildinfo$|(?:^|\/)\.(?:vite|built-from)/.test(file)

const filesIn = (folder, isTaken) =>
  readdirSync(path.join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name)))
    .map((file) => file.split(path.sep).join('/'))
    .filter(isTaken)

/** The compiled file of one of our own packages, as Node finds it, from the root. */
const ownFile = (specifier) =>
  path.posix.relative(root, fileURLToPath(import.meta.resolve(specifier)))

/** A module that imports what is not there would fail with the first user who needs it. */
const assertComplete = (text, file, staged) => {
  for (const specifier of specifiersIn(withoutComments(text))) {
    if (specifier.startsWith('@gatehouse/'))
      throw new Error(`${file} imports ${specifier}, which is not published`)
    if (!specifier.startsWith('.')) continue
    const target = path.posix.join(path.posix.dirname(file), specifier)
    if (!staged.has(target)) throw new Error(`${file} imports ${target}, which is left out`)
  }
}

const writeText = (file, text) => {
  mkdirSync(path.dirname(file), { recursive: true })
  writeFileSync(file, text)
}

/** Tells the files of this build of the command from those of builds before it, which stay for a while. */
const createIsCurrent = () => {
  const bundle = 'packages/cli/dist/bundle'
  const manifest = JSON.parse(readFileSync(path.join(root, bundle, '.vite/manifest.json'), 'utf8'))
  const current = new Set(Object.values(manifest).map(({ file }) => `${bundle}/${file}`))
  return (file) => !file.startsWith(`${bundle}/`) || current.has(file)
}

const stageFiles = (folder) => {
  const isCurrent = createIsCurrent()
  const files = Object.entries(parts)
    .flatMap(([name, folders]) =>
      folders.flatMap((part) => filesIn(`packages/${name}/${part}`, isShipped)),
    )
    .filter(isCurrent)
  const staged = new Set(files)
  for (const file of files) {
    const from = path.join(root, file)
    const to = path.join(folder, file)
    const isOurs = isCode(file) && !file.startsWith('packages/dashboard/')
    if (isOurs) {
      const text = rewriteImports(readFileSync(from, 'utf8'), file, ownFile)
      assertComplete(text, file, staged)
      writeText(to, text.replace(/\n\/\/# sourceMappingURL=\S+\s*$/, '\n'))
    } else {
      mkdirSync(path.dirname(to), { recursive: true })
      copyFileSync(from, to)
    }
  }
  // Code reads its version and its libraries from the manifest beside it.
  for (const name of Object.keys(parts)) {
    const { version, dependencies = {} } = readManifest(`packages/${name}`)
    const libraries = Object.entries(dependencies).filter(([of]) => !of.startsWith('@gatehouse/'))
    const own = {
      version,
      private: true,
      type: 'module',
      dependencies: Object.fromEntries(libraries),
    }
    if (name !== 'dashboard')
      writeText(path.join(folder, `packages/${name}/package.json`), `${JSON.stringify(own)}\n`)
  }
}

/** Libraries inside of the page and of the command, as their builds wrote them down. */
export const bundledLibraries = () => {
  const all = ['dashboard/dist', 'cli/dist/bundle'].flatMap((folder) => {
    const notices = path.join(root, `packages/${folder}/.vite/third-party.json`)
    if (!existsSync(notices))
      throw new Error(`packages/${folder} is not built: npm run build -- --clean`)
    return JSON.parse(readFileSync(notices, 'utf8'))
  })
  const byName = new Map(all.map((library) => [`${library.name}@${library.version}`, library]))
  return [...byName].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, library]) => library)
}

const stageNotices = (folder) => {
  writeText(path.join(folder, 'THIRD-PARTY-NOTICES.md'), thirdPartyNotices(bundledLibraries()))
  copyFileSync(path.join(root, 'LICENSE'), path.join(folder, 'LICENSE'))
  copyFileSync(path.join(root, 'packages/cli/README.md'), path.join(folder, 'README.md'))
}

/** Sources are not published, so neither is the condition that finds them. */
const withoutSources = (value) => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const kept = Object.entries(value).filter(([key]) => key !== 'gatehouse-source')
  return Object.fromEntries(kept.map(([key, each]) => [key, withoutSources(each)]))
}

const json = (value) => `${JSON.stringify(value, null, 2)}\n`

const writeLock = (file, manifest, packages) => {
  const { name, version, license, dependencies = {}, engines, bin } = manifest
  const lock = {
    ...{ name, version, lockfileVersion: 3, requires: true },
    packages: {
      '': { name, version, license, dependencies, bin, engines },
      ...lockSubset(packages, dependencies),
    },
  }
  writeText(file, json(lock))
}

/** Puts the package for agents' authors together: what its own list of files names, without what builds it. */
export const stageClient = (folder, repository) => {
  const { devDependencies, ...manifest } = readManifest('packages/client')
  const isTaken = (file) => file.endsWith('.js') || file.endsWith('.d.ts')
  for (const file of ['README.md', 'LICENSE', ...filesIn('packages/client/dist', isTaken)]) {
    const own = file.replace('packages/client/', '')
    writeText(path.join(folder, own), readFileSync(path.join(root, 'packages/client', own)))
  }
  const published = { ...manifest, ...(repository ? { repository } : {}) }
  writeText(path.join(folder, 'package.json'), json(withoutSources(published)))
  writeLock(path.join(folder, 'package-lock.json'), manifest, {})
}

/**
 * Puts the package of the command together in a folder, from what is built: our parts in their places as in the
 * repository, with the exact versions of all libraries. `date` is that of the
 * release. Returns its manifest.
 */
export const stageCommand = async (folder, { date, repository }) => {
  stageFiles(folder)
  stageNotices(folder)
  const pages = await manPages(date)
  for (const { file, text } of pages) writeText(path.join(folder, 'man', file), text)
  const manifest = publishedManifest(
    pages.map(({ file }) => `man/${file}`),
    repository,
  )
  writeText(path.join(folder, 'package.json'), json(manifest))
  const { packages } = JSON.parse(readFileSync(path.join(root, 'package-lock.json'), 'utf8'))
  writeLock(path.join(folder, 'npm-shrinkwrap.json'), manifest, packages)
  for (const file of Object.values(manifest.bin)) chmodSync(path.join(folder, file), 0o755)
  return manifest
}
