import { existsSync } from 'node:fs'
import path from 'node:path'
import { root } from './run.mjs'

const source = /^packages\/([a-z-]+)\/src\/(.+)\.ts$/

/** The file that a source of a package is compiled to; null for a test, and for what is no such source. */
export const compiledOf = (file) => {
  const [, name, rest] = source.exec(path.relative(root, file).split(path.sep).join('/')) ?? []
  if (name === undefined || rest.endsWith('.test')) return null
  return path.join(root, 'packages', name, 'dist', `${rest}.js`)
}

/**
 * A plugin of the test runner. A source that a test imports is the file that was compiled from it, which the
 * packages import too: there is one of each class, and Node reads hundreds of files without the runner's help.
 */
export const compiledSources = () => ({
  name: 'compiled-sources',
  enforce: 'pre',
  async resolveId(id, importer, options) {
    if (importer === undefined) return null
    const found = await this.resolve(id, importer, { ...options, skipSelf: true })
    const compiled = found && compiledOf(found.id)
    return compiled && existsSync(compiled) ? compiled : found
  },
})
