import { existsSync, readFileSync } from 'node:fs'
import type { KernelFacts } from './remedies.ts'

export const readOr = (file: string, otherwise: string): string => {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch {
    return otherwise
  }
}

export const loadKernelFacts = (): KernelFacts => {
  const setting = (name: string) => {
    const value = readOr(`/proc/sys/${name}`, '')
    return value === '' ? null : value
  }
  return {
    appArmorRestricts: setting('kernel/apparmor_restrict_unprivileged_userns') === '1',
    clone: setting('kernel/unprivileged_userns_clone'),
    namespacesMax: setting('user/max_user_namespaces'),
    inContainer: existsSync('/.dockerenv') || existsSync('/run/.containerenv'),
  }
}
