import { createHash } from 'node:crypto'
import { cp, mkdir, readdir, readFile, rename, rm, stat, symlink } from 'node:fs/promises'
import path from 'node:path'
import { npm, root, run } from './run.mjs'

/** A folder for each program, with its package.json and its lock. */
export const programsFolder = path.join(root, 'test/programs')

/** Installations, by name and digest of the lock: what another lock installed is never taken for this one. */
const installations = path.join(root, '.cache/programs')

const sourceFiles = ['package.json', 'package-lock.json']

export const listForeignPrograms = async (folder = programsFolder) =>
  (await readdir(folder, { withFileTypes: true }).catch(() => []))
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)

const isThere = (file) =>
  stat(file).then(
    () => true,
    () => false,
  )

const digestOf = async (source) => {
  const hash = createHash('sha256')
  for (const file of sourceFiles) hash.update(await readFile(path.join(source, file)))
  return hash.digest('hex').slice(0, 16)
}

/** What a program's own modules import is found as in any project: in `node_modules` beside them. */
const linkTo = async (place, source) => {
  const link = path.join(source, 'node_modules')
  const made = `${link}.${process.pid}`
  await rm(made, { force: true })
  await symlink(path.relative(source, path.join(place, 'node_modules')), made)
  await rename(made, link)
}

const removeOlder = async (name, place, home) => {
  const older = new RegExp(`^${name}-[0-9a-f]{16}$`)
  for (const other of await readdir(home))
    if (older.test(other) && other !== path.basename(place))
      await rm(path.join(home, other), { recursive: true, force: true })
}

/**
 * Installs a program that is no dependency of the project, as its lock says and without running anything of
 * it. A folder under its final name is whole: it got that name as the last step.
 */
export const installForeignProgram = async (
  name,
  { folder = programsFolder, home = installations } = {},
) => {
  const source = path.join(folder, name)
  const place = path.join(home, `${name}-${await digestOf(source)}`)
  if (!(await isThere(place))) {
    console.error(`Fetching ${name} for the tests (npm)…`)
    const made = path.join(home, `.setup-${name}-${process.pid}`)
    try {
      await mkdir(made, { recursive: true })
      for (const file of sourceFiles) await cp(path.join(source, file), path.join(made, file))
      const install = ['ci', '--prefix', made, '--ignore-scripts', '--include=optional']
      const command = [...npm, ...install, '--no-audit', '--no-fund']
      const { code } = await run(command, { cwd: made, capture: true, timeoutMs: 300_000 })
      if (code !== 0) return false
      // Another run may have been first, with the same.
      await rename(made, place).catch(() => {})
    } finally {
      await rm(made, { recursive: true, force: true })
    }
  }
  if (!(await isThere(place))) return false
  await linkTo(place, source)
  await removeOlder(name, place, home)
  return true
}

/** Installs these, two at a time. Returns those that could not be had, each with what it is for. */
export const installForeignPrograms = async (names, places = {}) => {
  const missing = []
  const left = [...names]
  const worker = async () => {
    for (let name = left.shift(); name !== undefined; name = left.shift()) {
      if (await installForeignProgram(name, places).catch(() => false)) continue
      const file = path.join(places.folder ?? programsFolder, name, 'package.json')
      missing.push({ what: name, suites: JSON.parse(await readFile(file, 'utf8')).description })
    }
  }
  await Promise.all([worker(), worker()])
  return missing
}
