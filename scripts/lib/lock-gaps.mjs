/**
 * Optional packages for other systems that a locked package names by exact version and the lock file
 * leaves out. `npm install` leaves out what its registry does not have, and `npm ci` then refuses the
 * whole lock file, on every system.
 */
export const lockGaps = (packages) =>
  Object.entries(packages).flatMap(([parent, entry]) =>
    Object.entries(entry.optionalDependencies ?? {})
      .filter(
        ([name, version]) =>
          /^\d+\.\d+\.\d+[\w.+-]*$/.test(version) &&
          !packages[`node_modules/${name}`] &&
          !packages[`${parent}/node_modules/${name}`],
      )
      .map(([name, version]) => ({ name, version, dev: entry.dev === true })),
  )
