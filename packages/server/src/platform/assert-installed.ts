import { readFileSync } from 'node:fs'

const manifest = new URL('../../package.json', import.meta.url)

const dependencies = (): readonly string[] => {
  const { dependencies } = JSON.parse(readFileSync(manifest, 'utf8')) as {
    readonly dependencies: Readonly<Record<string, string>>
  }
  return Object.keys(dependencies)
}

/**
 * Libraries that are not installed fail the start, with what an import of them would raise: several are loaded
 * by the first call that needs them, and that would be late to hear of it.
 */
export const assertInstalled = (names: readonly string[] = dependencies()): void => {
  for (const name of names) import.meta.resolve(name)
}
