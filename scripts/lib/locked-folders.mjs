import { existsSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { root } from './run.mjs'

const programsIn = (home) =>
  readdirSync(path.join(root, home))
    .map((name) => `${home}/${name}`)
    .filter((folder) => existsSync(path.join(root, folder, 'package-lock.json')))

/** The folders with a lock of their own: the project, and each program that tests and benchmarks run. */
export const lockedFolders = () => [
  '.',
  ...programsIn('test/programs'),
  ...programsIn('benchmarks/programs'),
]
