import path from 'node:path'

const atStart =
  /(?:^|[\s;])(?:import|export)\s[^'"`;]*?from\s*['"]([^'"]+)['"]|(?:^|[\s;])import\s*['"]([^'"]+)['"]/g
const later = /\bimport\s*\(\s*['"]([^'"]+)['"]/g

/** Imports of a text before it runs, for values or types, as they are written there. Comments should be taken out before. */
export const staticSpecifiersIn = (text) =>
  [...text.matchAll(atStart)].map((match) => match[1] ?? match[2])

/** Everything that a text imports, also when it runs. */
export const specifiersIn = (text) => [
  ...staticSpecifiersIn(text),
  ...[...text.matchAll(later)].map((match) => match[1]),
]

export const withoutComments = (text) => text.replace(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm, '')

/** Target of an import: a file of ours with its path from the root, `node:x` or `npm:x`. */
export const targetOf = (specifier, file) => {
  if (specifier.startsWith('.')) return path.posix.join(path.posix.dirname(file), specifier)
  if (specifier.startsWith('node:')) return specifier
  const [scope, name = '', ...rest] = specifier.split('/')
  if (scope !== '@gatehouse') {
    return `npm:${specifier.startsWith('@') ? `${scope}/${name}` : scope}`
  }
  return `packages/${name}/src/${rest.length > 0 ? rest.join('/') : 'index'}.ts`
}
