// Each `@SECURITY` comment names the test that fails without its line, and that test exists. An id such as
// F04 in such a comment stands in the named test too.
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { launcherFiles, sourceFiles } from './lib/files.mjs'
import { root } from './lib/run.mjs'

const testName = /[\w./-]+\.test\.ts/g
const caseId = /\b[A-Z]\d\d\b/g

/** The comments of a text that carry the tag, each with its line. Lines of `//`, or of `#`, that follow each other are one. */
export const securityComments = (text) =>
  [...text.matchAll(/\/\*\*?[\s\S]*?\*\/|(?:^[ \t]*\/\/.*\n?)+|(?:^[ \t]*#.*\n?)+|\/\/.*$/gm)]
    .filter(([comment]) => comment.includes('@SECURITY'))
    .map(({ 0: comment, index }) => ({
      comment,
      line: text.slice(0, index + comment.indexOf('@SECURITY')).split('\n').length,
    }))

/** The tests that a name may stand for: the one beside the file, else all that end so. */
const pathsOf = (name, file, known) => {
  const beside = path.posix.join(path.posix.dirname(file), name)
  if (known.includes(beside)) return [beside]
  return known.filter((one) => `/${one}`.endsWith(`/${name}`))
}

/** Gaps in the comments of one file, one line each. `tests` are texts of test files by path. */
export const findGaps = (file, text, tests) =>
  securityComments(text).flatMap(({ comment, line }) => {
    const at = `${file}:${line}`
    const names = comment.match(testName) ?? []
    if (names.length === 0) return [`${at} names no test`]
    const found = names.map((name) => ({ name, paths: pathsOf(name, file, [...tests.keys()]) }))
    const gone = found.filter(({ paths }) => paths.length === 0)
    const unclear = found.filter(({ paths }) => paths.length > 1)
    const bodies = found.flatMap(({ paths }) => paths.map((one) => tests.get(one)))
    const ids = (comment.replaceAll(testName, '').match(caseId) ?? []).filter(
      (id) => !bodies.some((body) => body.includes(id)),
    )
    return [
      ...gone.map(({ name }) => `${at} names ${name}, which is no test here`),
      ...unclear.map(
        ({ name, paths }) => `${at} names ${name}, which may be ${paths.join(' or ')}`,
      ),
      ...ids.map((id) => `${at} names ${id}, which stands in none of its tests`),
    ]
  })

const testFiles = () => {
  const folders = ['packages', 'test']
  const files = folders.flatMap((folder) =>
    readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.test.ts') && !name.includes('node_modules'))
      .map((name) => path.join(folder, name).split(path.sep).join('/')),
  )
  return new Map(files.map((file) => [file, readFileSync(path.join(root, file), 'utf8')]))
}

const main = () => {
  const tests = testFiles()
  const gaps = [...sourceFiles(), ...launcherFiles()].flatMap(({ file, text }) =>
    findGaps(file, text, tests),
  )
  for (const gap of gaps) console.error(gap)
  process.exitCode = gaps.length > 0 ? 1 : 0
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) main()
