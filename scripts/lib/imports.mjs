import path from 'node:path'

const importPattern =
  /(?:^|[\s;])(?:import|export)\s[^'"`;]*?from\s*['"]([^'"]+)['"]|(?:^|[\s;])import\s*['"]([^'"]+)['"]|\bimport\s*\(\s*['"]([^'"]+)['"]/g

/** Everything that a text imports, as it is written there. Comments should be taken out before. */
export const specifiersIn = (text) =>
  [...text.matchAll(importPattern)].map((match) => match[1] ?? match[2] ?? match[3])

export const withoutComments = (text) => text.replace(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm, '')

/** What an import of a file names: a file of ours with its path from the root, `node:x` or `npm:x`. */
export const targetOf = (specifier, file) => {
  if (specifier.startsWith('.')) return path.posix.join(path.posix.dirname(file), specifier)
  if (specifier.startsWith('node:')) return specifier
  const [scope, name = '', ...rest] = specifier.split('/')
  if (scope !== '@gatehouse') {
    return `npm:${specifier.startsWith('@') ? `${scope}/${name}` : scope}`
  }
  return `packages/${name}/src/${rest.length > 0 ? rest.join('/') : 'index'}.ts`
}
