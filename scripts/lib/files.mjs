import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { root } from './run.mjs'

const isSource = (name) =>
  /\.(?:tsx?|m?js)$/.test(name) && !/\.test\.tsx?$/.test(name) && !name.endsWith('.d.ts')
const isLauncher = (name) => name.endsWith('.pl')

/** Every source file of the packages, tests aside, with its path from the root: `src`, and `public` of the page. */
export const sourceFiles = () =>
  readdirSync(path.join(root, 'packages')).flatMap((name) =>
    ['src', 'public'].flatMap((part) => filesIn(path.join('packages', name, part), isSource)),
  )

const isTest = (name) => name.endsWith('.test.ts') && !name.includes('node_modules')

/** Every test in TypeScript, with its path from the root. */
export const testFiles = () => ['packages', 'test'].flatMap((folder) => filesIn(folder, isTest))

/** The programs in Perl that untrusted ones are started with. */
export const launcherFiles = () => filesIn('packages/server/launchers', isLauncher)

const isPage = (name) => name.endsWith('.md') && !name.includes('node_modules')

/** Every Markdown file that people wrote or read: path and text. */
export const markdownFiles = () => [
  ...filesIn('.', isPage, { recursive: false }),
  ...['benchmarks', 'docs', 'examples'].flatMap((folder) => filesIn(folder, isPage)),
  ...readdirSync(path.join(root, 'packages')).flatMap((name) =>
    filesIn(path.join('packages', name), isPage, { recursive: false }),
  ),
]

const filesIn = (folder, isWanted, { recursive = true } = {}) => {
  try {
    return readdirSync(path.join(root, folder), { recursive, encoding: 'utf8' })
      .filter(isWanted)
      .map((file) => path.join(folder, file))
      .map((file) => ({
        file: file.split(path.sep).join('/'),
        text: readFileSync(path.join(root, file), 'utf8'),
      }))
  } catch {
    return []
  }
}

// Matches a file against `a/b` (everything below), `a/*.ts`, or `a/*/` and `a/{b,c}/`, where each folder
// that fits is a part of its own. Returns the part, or null.
export const globMatcher = (pattern) => {
  const source = pattern
    .replace(/[.+^$()|[\]\\]/g, '\\$&')
    .replace(/\{([^}]*)\}/g, (_, names) => `(?:${names.replaceAll(',', '|')})`)
    .replaceAll('*', '[^/]*')
  const end = pattern.endsWith('.ts') ? '$' : pattern.endsWith('/') ? '' : '(?:/|$)'
  const expression = new RegExp(`^(${source})${end}`)
  const whole = pattern.endsWith('.ts')
  return (file) => {
    const part = expression.exec(file)?.[1]
    return part === undefined ? null : whole ? pattern : part
  }
}
