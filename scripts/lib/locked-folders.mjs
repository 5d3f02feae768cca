import { existsSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { root } from './run.mjs'

/** The folders with a lock of their own: the project, and each program that tests run. */
export const lockedFolders = () => [
  '.',
  ...readdirSync(path.join(root, 'test/programs'))
    .map((name) => `test/programs/${name}`)
    .filter((folder) => existsSync(path.join(root, folder, 'package-lock.json'))),
]
