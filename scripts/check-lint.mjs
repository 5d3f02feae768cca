// The linter. Errors fail; functions and files over the limits of size stand in
// docs/architecture/size-exemptions.txt, compared exactly, so that the list can only shrink.
import { pathToFileURL } from 'node:url'
import { compareWithExemptions, readExemptions } from './lib/exemptions.mjs'
import { run, tools } from './lib/run.mjs'

/** A finding of size as a line that stays the same when the lines above it change. */
const lineOf = ({ filename, code, message }) => {
  const rule = code.replace(/^eslint\(|\)$/g, '')
  const name = /`([^`]+)`/.exec(message)?.[1]
  return name ? `${filename} ${rule} ${name}` : `${filename} ${rule}`
}

const placeOf = ({ filename, labels, message, code }) => {
  const { line = 1, column = 1 } = labels[0]?.span ?? {}
  return `${filename}:${line}:${column}: ${message} ${code}`
}

/** The problems among the linter's findings, one line each. */
export const findProblems = (diagnostics, listed) => {
  const errors = diagnostics.filter(({ severity }) => severity === 'error')
  const sizes = diagnostics.filter(({ severity }) => severity !== 'error')
  const problems = compareWithExemptions(sizes.map(lineOf), listed)
  return [
    ...errors.map(placeOf),
    ...problems.map((line) => {
      const found = sizes.find((finding) => lineOf(finding) === line)
      return found ? `${line}\n  ${placeOf(found)}` : line
    }),
  ]
}

const main = async () => {
  const { code, output } = await run(
    [...tools.oxlint, '--type-aware', '--threads=2', '--format=json'],
    { capture: true },
  )
  let diagnostics
  try {
    ;({ diagnostics } = JSON.parse(output))
  } catch {
    console.error(output)
    process.exitCode = code === 0 ? 1 : code
    return
  }
  const problems = findProblems(diagnostics, readExemptions('size-exemptions.txt'))
  for (const problem of problems) console.error(problem)
  if (code !== 0 && problems.length === 0) console.error(output)
  process.exitCode = problems.length > 0 ? 1 : code
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await main()
