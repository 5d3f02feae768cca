import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { npm, root, run } from './run.mjs'

const packagesOf = async (file) => {
  try {
    return JSON.parse(await readFile(path.join(root, file), 'utf8')).packages
  } catch {
    return null
  }
}

/**
 * Whether what is installed differs from the lock file. Compared by content: the times of files say
 * nothing after a checkout.
 */
export const differs = (wanted, installed) =>
  Object.entries(wanted).some(([where, entry]) => {
    if (!where.startsWith('node_modules/')) return false
    const found = installed[where]
    // Packages for other systems are never installed here.
    if (!found) return !entry.optional
    return found.version !== entry.version || found.integrity !== entry.integrity
  })

const isInstallStale = async () => {
  const [wanted, installed] = await Promise.all([
    packagesOf('package-lock.json'),
    packagesOf('node_modules/.package-lock.json'),
  ])
  return !wanted || !installed || differs(wanted, installed)
}

/** Installs exactly what the lock file says, where that is not what stands. Returns the exit code. */
export const ensureInstalled = async () => {
  if (!(await isInstallStale())) return 0
  console.error('Installing dependencies (npm ci)…')
  // Development tools are part of it: the build needs them, whatever NODE_ENV says.
  const { code } = await run([...npm, 'ci', '--include=dev', '--no-audit', '--no-fund'])
  if (code !== 0) console.error('npm ci failed. Without it nothing can run; see its message above.')
  return code
}
