// Tests depend on no clock of a machine that others use as well: none has a limit of its own below that of its project, none
// waits by a clock or a count of its own, and none holds a time that passed meanwhile to less than half a minute. Nor do
// they find parts of a page by a class: when its look changes, what waits for it to go waits for nothing, and says so nowhere.
import { pathToFileURL } from 'node:url'
import { testFiles } from './lib/files.mjs'
import { projectOf, testLimits } from './lib/test-limits.mjs'

/** Behind a test or hook, or among its options, perhaps of its short form or of a sum; intervals are shorter. */
const limits = [
  /^ *(?:before|after)(?:All|Each)\(.*, (?<ms>[\d_]{4,})\)$/gm,
  /^ *\}, (?<ms>[\d_]{4,})\)$/gm,
  /^ *\},\n(?: *\/\/.*\n)* *(?:\w+ \? [\d_]+ : )?(?<ms>[\d_]{4,}),\n *\)/gm,
  /\btimeout: (?:\w+ \? [\d_]+ : )?(?<ms>[\d_]{4,})(?: \+ .*)?,?\s+\},\s*(?:async )?\(/g,
]
/** Waits of vitest that end after a second, whatever the limit of the test is. */
const waits = /\bvi\.wait(?:For|Until)\(/g
/** Waits that give up after so many looks, whatever the limit of the test is. */
const counted =
  /\bfor \(let tries = 0; [^\n]*\)(?:(?!\n *\}\n)[\s\S]){0,300}?\b(?:setTimeout|pause)\(/g
const passed =
  /expect\((?:performance|Date)\.now\(\) - \w+\)\s*\.toBeLessThan(?:OrEqual)?\((?<ms>[\d_]+)\)/g
const heldMin = 30_000

const placeOf = (file, text, index) => `${file}:${text.slice(0, index).split('\n').length}`

const findingsOf = (pattern, file, text, isAllowed, said) =>
  [...text.matchAll(pattern)].flatMap(({ 0: found, groups: { ms }, index }) => {
    if (isAllowed(Number(ms.replaceAll('_', '')))) return []
    return [`${placeOf(file, text, index + found.lastIndexOf(ms))} ${ms} ms: ${said}`]
  })

/** Limits of a test's own that are too short, one line each. */
export const findShortLimits = (file, text) => {
  const project = projectOf(file)
  return [
    ...limits.flatMap((limit) =>
      findingsOf(
        limit,
        file,
        text,
        (ms) => ms >= testLimits[project],
        `tests of ${project} have ${testLimits[project]} ms anyway`,
      ),
    ),
    ...findingsOf(
      passed,
      file,
      text,
      (ms) => ms >= heldMin,
      'measure processor time (@gatehouse/testkit/processor-time), or the best of three',
    ),
    ...[...text.matchAll(waits)].map(
      ({ index }) =>
        `${placeOf(file, text, index)} vi.wait: use expect.poll, which waits a third of the limit`,
    ),
    ...[...text.matchAll(counted)].map(
      ({ index }) =>
        `${placeOf(file, text, index)} counted looks: use until (@gatehouse/testkit/until), which the limit ends`,
    ),
  ]
}

/** What a test looks for on a page by a selector. */
const selectors = /\blocator\(\s*(['"`])(?<selector>(?:(?!\1)[^\n])*)\1/g
/** Values in a selector, which may have dots as well. */
const values = /\$\{[^}]*\}|"[^"]*"/g
/** Those of the editor are its interface. */
const className = /\.(?!cm-)[a-z]/i

/** Places that a test finds by how they look, one line each. */
export const findClasses = (file, text) =>
  [...text.matchAll(selectors)].flatMap(({ groups: { selector }, index }) =>
    className.test(selector.replaceAll(values, ''))
      ? [
          `${placeOf(file, text, index)} a class: use a role, a label or a data attribute, which stay`,
        ]
      : [],
  )

const told = (title, found) => {
  if (found.length > 0) console.error([title, ...found].join('\n'))
  return found.length
}

const main = () => {
  const files = testFiles()
  const all = (find) => files.flatMap(({ file, text }) => find(file, text))
  const count =
    told('A busy machine is no failure (CONTRIBUTING.md):', all(findShortLimits)) +
    told('What is looked for has to be there to be found:', all(findClasses))
  process.exitCode = count > 0 ? 1 : 0
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) main()
