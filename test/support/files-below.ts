import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** Files in a folder and those below it, of which a service that runs may take away some meanwhile. */
export function* filesBelow(
  folder: string,
): Generator<{ readonly path: string; readonly bytes: Buffer }> {
  for (const name of namesIn(folder)) {
    const path = join(folder, name)
    const found = statSync(path, { throwIfNoEntry: false })
    if (found?.isDirectory()) yield* filesBelow(path)
    const bytes = found?.isFile() ? whileThere(() => readFileSync(path)) : null
    if (bytes) yield { path, bytes }
  }
}

const namesIn = (folder: string): readonly string[] => whileThere(() => readdirSync(folder)) ?? []

const whileThere = <T>(read: () => T): T | null => {
  try {
    return read()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}
