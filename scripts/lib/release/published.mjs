import { readFileSync } from 'node:fs'
import path from 'node:path'
import { root } from '../run.mjs'

export const readManifest = (folder) =>
  JSON.parse(readFileSync(path.join(root, folder, 'package.json'), 'utf8'))

/** Our packages inside of the one that is published, with what it takes of each beside its code. */
export const parts = {
  cli: ['bin', 'completions', 'dist'],
  contract: ['dist'],
  dashboard: ['dist'],
  'rest-client': ['dist'],
  server: ['dist', 'engine', 'launchers', 'policies'],
}

const isExact = (version) => /^\d+\.\d+\.\d+[\w.+-]*$/.test(version)

/** Dependencies of all parts that run under Node, without our own. The page has its own inside. */
const dependenciesOf = () => {
  const all = {}
  for (const name of Object.keys(parts).filter((part) => part !== 'dashboard'))
    for (const [dependency, version] of Object.entries(
      readManifest(`packages/${name}`).dependencies ?? {},
    )) {
      if (dependency.startsWith('@gatehouse/')) continue
      if (!isExact(version)) throw new Error(`${dependency} is ${version}, no exact version`)
      if ((all[dependency] ?? version) !== version)
        throw new Error(`${dependency} is ${all[dependency]} and ${version}`)
      all[dependency] = version
    }
  return Object.fromEntries(Object.entries(all).toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

/** The package.json of the command as it is published. `man` are its manual pages. */
export const publishedManifest = (man, repository) => {
  const { name, version, description, license, engines, keywords, bin } =
    readManifest('packages/cli')
  return {
    ...{ name, version, description, keywords, license },
    ...(repository ? { repository } : {}),
    engines,
    type: 'module',
    bin: Object.fromEntries(
      Object.entries(bin).map(([command, file]) => [command, `packages/cli/${file}`]),
    ),
    man,
    exports: { './package.json': './package.json' },
    files: ['man', 'packages', 'THIRD-PARTY-NOTICES.md', 'npm-shrinkwrap.json'],
    dependencies: dependenciesOf(),
  }
}
