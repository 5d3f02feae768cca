/** How long a test or hook of each project may take, in ms: a machine that others use as well takes several times as long. */
export const testLimits = { unit: 120_000, postgres: 240_000, integration: 240_000, e2e: 400_000 }

/** Project of a test, by its path from the root. */
export const projectOf = (file) => {
  if (file.startsWith('test/')) return 'e2e'
  if (file.includes('/storage/postgres/')) return 'postgres'
  return /^packages\/[^/]+\/test\//.test(file) ? 'integration' : 'unit'
}
