/** Where npm looks for a package that the one at `where` imports, nearest first. */
const placesFor = (where, name) => {
  const parts = where === '' ? [] : where.split('/node_modules/')
  const places = parts.map((_part, at) =>
    [...parts.slice(0, parts.length - at), name].join('/node_modules/'),
  )
  return [...places, `node_modules/${name}`]
}

const peersOf = ({ peerDependencies = {}, peerDependenciesMeta = {} }) =>
  Object.keys(peerDependencies).filter((name) => !peerDependenciesMeta[name]?.optional)

/**
 * The part of a lock file that these dependencies need, for a package of their own: the exact versions and hashes that
 * the tests ran with.
 * @throws where a package is not locked at the root or below another: its place would be another one.
 */
export const lockSubset = (packages, dependencies) => {
  const subset = new Map()
  const take = (from, names, isOptional) => {
    for (const name of names) {
      const where = placesFor(from, name).find((place) => packages[place] !== undefined)
      if (where === undefined) {
        if (isOptional) continue
        throw new Error(`${name} is not in package-lock.json (for ${from || 'the package itself'})`)
      }
      if (subset.has(where)) continue
      const entry = packages[where]
      const { dev, devOptional, ...locked } = entry
      subset.set(where, locked)
      take(where, [...Object.keys(entry.dependencies ?? {}), ...peersOf(entry)], false)
      take(where, Object.keys(entry.optionalDependencies ?? {}), true)
    }
  }
  take('', Object.keys(dependencies), false)
  return Object.fromEntries([...subset].toSorted(([a], [b]) => (a < b ? -1 : 1)))
}
