import { readFileSync } from 'node:fs'
import path from 'node:path'
import { root } from './run.mjs'

/** The lines of a list in docs/architecture, without its comments. */
export const readExemptions = (name) =>
  readFileSync(path.join(root, 'docs/architecture', name), 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))

/**
 * Differences between findings and a list of exemptions, in which a line may stand several times. A new
 * finding is a problem, and so is a line that is no longer needed: the list can only shrink.
 */
export const compareWithExemptions = (found, listed) => {
  const left = [...listed]
  const fresh = found.filter((line) => {
    const at = left.indexOf(line)
    if (at >= 0) left.splice(at, 1)
    return at < 0
  })
  return [...fresh, ...left.map((line) => `no longer needed: ${line}`)]
}
