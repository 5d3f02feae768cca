// Comments of the sources name what they are about: none opens with a pronoun that leaves the noun out.
import { pathToFileURL } from 'node:url'
import { sourceFiles } from './lib/files.mjs'

const pronoun =
  /^(?:it|its|this|that|these|those|they|them|their|he|she|his|her|we|our|you|your|what|whatever|which|whichever|who|whoever|whom|whose|such|same|so (?:many|much|long|often))\b/i
const isGenerated = (text) => text.startsWith('// Made by `npm run generate`')

/** Comments with a line of their own: those of `/**`, and lines of `//` that follow each other. */
const comment = /^[ \t]*\/\*\*[\s\S]*?\*\/|(?:^[ \t]*\/\/.*\n?)+/gm

/** Comments of a file that open with a pronoun, one line each. */
export const findPronouns = (file, text) =>
  isGenerated(text)
    ? []
    : [...text.matchAll(comment)].flatMap(({ 0: found, index }) => {
        const [, opening = ''] = /^[\s/*]*(?:@\w+\s+)?(.*)/.exec(found) ?? []
        const line = text.slice(0, index).split('\n').length
        return pronoun.test(opening) ? [`${file}:${line} ${opening.replace(/ ?\*\/$/, '')}`] : []
      })

const main = () => {
  const found = sourceFiles().flatMap(({ file, text }) => findPronouns(file, text))
  if (found.length > 0)
    console.error('A comment opens with the noun that it is about (CONTRIBUTING.md):')
  for (const line of found) console.error(line)
  process.exitCode = found.length > 0 ? 1 : 0
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) main()
