import { readFileSync } from 'node:fs'
import { mkdir, readFile, rm } from 'node:fs/promises'
import path from 'node:path'
import { specifiersIn, targetOf, withoutComments } from './imports.mjs'
import { root, run, tools } from './run.mjs'

/**
 * How a test, or a kit that it imports, asks for something of the machine.
 *
 * @type {[RegExp, (match: RegExpMatchArray) => string[]][]}
 */
const asks = [
  [/\bhasProgram\('([a-z-]+)'\)/g, (match) => [match[1]]],
  [/\bhasEngine\(/g, () => ['engine', 'bwrap']],
  [/\bstartPostgres\(|\bdescribeStorage\('postgres'/g, () => ['postgres']],
  [/'python3'/g, () => ['python']],
  [/\bforeignProgram\('([a-z\d-]+)'\)/g, (match) => [`npm:${match[1]}`]],
]
/** Defines these questions and asks none. */
const asked = 'packages/testkit/src/programs.ts'

const readSource = (file) => {
  try {
    return withoutComments(readFileSync(path.join(root, file), 'utf8'))
  } catch {
    // A package's import of a name that is no file, such as an index in a folder: nothing there asks.
    return ''
  }
}

/** Sources of the product ask for nothing: only tests and their kits do. */
const isTesting = (file) => /\.test\.ts$|\/test\/|^test\/|^packages\/testkit\//.test(file)

/** Needs of the given tests, by following their imports through tests and kits. */
export const needsOf = (files, read = readSource) => {
  const needs = new Set()
  const seen = new Set([asked])
  const left = [...files]
  while (left.length > 0) {
    const file = left.pop()
    if (seen.has(file)) continue
    seen.add(file)
    const text = read(file)
    for (const [pattern, namesOf] of asks)
      for (const match of text.matchAll(pattern)) for (const name of namesOf(match)) needs.add(name)
    left.push(
      ...specifiersIn(text)
        .map((specifier) => targetOf(specifier, file))
        .filter(isTesting),
    )
  }
  return needs
}

/** Needs of a run with these arguments of vitest; null for everything: no arguments, or nobody knows. */
export const needsOfRun = async (args) => {
  if (args.length === 0) return null
  const listed = path.join(root, '.cache/chosen-tests.json')
  await mkdir(path.dirname(listed), { recursive: true })
  const list = [...tools.vitest, 'list', ...args, '--filesOnly', `--json=${listed}`]
  const { code } = await run(list, { capture: true })
  if (code !== 0) return null
  const files = JSON.parse(await readFile(listed, 'utf8'))
  await rm(listed)
  return needsOf(files.map(({ file }) => path.relative(root, file).split(path.sep).join('/')))
}
