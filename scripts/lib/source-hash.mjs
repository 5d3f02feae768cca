import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { root } from './run.mjs'

/** The files in folders and the files named, sorted, tests aside. */
const filesOf = (places) =>
  places
    .flatMap((place) =>
      statSync(path.join(root, place)).isDirectory()
        ? readdirSync(path.join(root, place), { recursive: true, withFileTypes: true })
            .filter((entry) => entry.isFile() && !/\.test\.tsx?$/.test(entry.name))
            .map((entry) => path.join(entry.parentPath, entry.name))
        : [path.join(root, place)],
    )
    .toSorted()

/** One hash of all that the files hold: times of files say nothing after a checkout. */
export const sourceHash = (places) => {
  const hash = createHash('sha256')
  for (const file of filesOf(places)) {
    const bytes = readFileSync(file)
    hash.update(`${path.relative(root, file)} ${bytes.length}\n`).update(bytes)
  }
  return hash.digest('hex')
}
