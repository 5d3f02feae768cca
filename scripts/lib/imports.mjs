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

/** Folders of the workspaces that are published, under names without our scope. */
const published = { gatehoused: 'cli', 'gatehouse-client': 'client' }

const sourceOf = (folder, inside) =>
  `packages/${folder}/src/${inside.length > 0 ? inside.join('/') : 'index'}.ts`

/** Target of an import: a file of ours with its path from the root, `node:x` or `npm:x`. */
export const targetOf = (specifier, file) => {
  if (specifier.startsWith('.')) return path.posix.join(path.posix.dirname(file), specifier)
  if (specifier.startsWith('node:')) return specifier
  const [scope = '', ...inside] = specifier.split('/')
  const folder = published[scope]
  if (folder) return sourceOf(folder, inside)
  const [name = '', ...rest] = inside
  if (scope !== '@gatehouse') {
    return `npm:${specifier.startsWith('@') ? `${scope}/${name}` : scope}`
  }
  return sourceOf(name, rest)
}
