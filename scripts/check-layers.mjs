// Imports between folders, the rooms of one layer, and the one gate: from docs/architecture/layers.json. No file may import
// itself by way of others, not for types either. Breaches that stand are listed in layer-exemptions.txt,
// compared exactly: a new one fails, and so does a line that is no longer needed, so that the list can only
// shrink.
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { compareWithExemptions, readExemptions } from './lib/exemptions.mjs'
import { globMatcher, sourceFiles } from './lib/files.mjs'
import { findImportCycles } from './lib/import-cycles.mjs'
import { specifiersIn, targetOf, withoutComments } from './lib/imports.mjs'
import { root } from './lib/run.mjs'

// Any mention of `x.run`: called, bound or taken away to be called later. In these layers nothing else
// may be named so.
const runPattern =
  /(?<!['`][a-z]+)\.run\b(?!\s+as\b)|\[['"`]run['"`]\]\s*[(.?]|\{[^{}]*\brun\b[^{}]*\}\s*=[^>=]/

/** The most exact path wins: `…/standard.ts` before `…/*.ts` before a folder. */
const layerFinder = (layers) => {
  const known = layers
    .map((layer) => ({ ...layer, matches: globMatcher(layer.path) }))
    .toSorted((a, b) => b.path.replace(/[*{].*/, '').length - a.path.replace(/[*{].*/, '').length)
  return (file) => {
    for (const { matches, ...layer } of known) {
      const part = matches(file)
      if (part !== null) return { ...layer, part, room: layer.rooms ? roomOf(layer, file) : null }
    }
    return null
  }
}

/** The folder right below a layer's own, or null for a file that lies beside the rooms and binds them. */
const roomOf = (layer, file) => {
  const [room, inside] = file.slice(layer.path.length + 1).split('/')
  return inside === undefined ? null : room
}

/** Within one layer: a part keeps to itself, and a room to those that it names. */
const isAllowedInside = (from, to) => {
  if (to.part !== from.part) return false
  if (!from.rooms || from.room === null || from.room === to.room) return true
  return to.room !== null && (from.rooms[from.room] ?? []).includes(to.room)
}

const isAllowed = (from, to, target) => {
  if (from.may.includes('*')) return true
  if (from.may.some((m) => m.endsWith('.ts') && globMatcher(m)(target) !== null)) return true
  if (!to) return from.may.some((m) => m === target || (m.endsWith(':') && target.startsWith(m)))
  return to.name === from.name ? isAllowedInside(from, to) : from.may.includes(to.name)
}

/** Every breach in the given files, as one line each. */
export const findBreaches = (table, files) => {
  const layerOf = layerFinder(table.layers)
  const isGate = globMatcher(table.gate.only)
  return files.flatMap(({ file, text }) => {
    const from = layerOf(file)
    if (!from) return [`${file} belongs to no layer`]
    if (from.room && !(from.room in from.rooms)) return [`${file} belongs to no room`]
    const code = withoutComments(text)
    const targets = specifiersIn(code).map((specifier) => targetOf(specifier, file))
    const breaches = targets
      .filter((target) => !isAllowed(from, layerOf(target), target))
      .map((target) => `${file} imports ${target}`)
    const watched =
      table.gate.watched.includes(from.name) ||
      targets.some((t) => t.endsWith('/ports/capability.ts'))
    if (watched && isGate(file) === null && runPattern.test(code)) {
      breaches.push(`${file} may run a capability`)
    }
    return breaches
  })
}

const main = () => {
  const file = path.join(root, 'docs/architecture/layers.json')
  const table = JSON.parse(readFileSync(file, 'utf8'))
  const files = sourceFiles()
  const found = [...new Set([...findBreaches(table, files), ...findImportCycles(files)])]
  const problems = compareWithExemptions(found, readExemptions('layer-exemptions.txt'))
  for (const problem of problems) console.error(problem)
  process.exitCode = problems.length > 0 ? 1 : 0
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) main()
