import { cpSync, existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import path from 'node:path'
import { buildDocsSite } from './docs-site.mjs'
import { root } from './run.mjs'

const dashboard = path.join(root, 'packages/dashboard/dist')

/** Files that the build of the dashboard makes for the documents. */
const made = ['docs/site.js', 'docs/site.css', 'icon.svg', 'theme.js']

/**
 * The documents as a site of their own, in a folder that is new or was made like this before.
 * @throws for a folder with anything else in it, which is not ours to replace.
 */
export const writeDocsSite = (folder) => {
  const isOurs = existsSync(path.join(folder, 'search.json'))
  if (existsSync(folder) && readdirSync(folder).length > 0 && !isOurs)
    throw new Error(`${folder} has other files in it; name an empty folder`)
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  for (const file of made)
    cpSync(path.join(dashboard, file), path.join(folder, path.basename(file)))
  cpSync(path.join(root, 'docs/images'), path.join(folder, 'images'), { recursive: true })
  return buildDocsSite(folder, { isAlone: true })
}
