import type { PolicyProblem, PolicyVerdict } from '@gatehouse/contract'
import { counted } from './counted.ts'
import { escapeLines, escapeText } from './escape-text.ts'

/** As compilers print them, so that editors can jump to the place. */
export const problemLine = ({ file, line, column, severity, message }: PolicyProblem): string =>
  escapeText(`${file}:${line}:${column}: ${severity}: ${message}`)

/** A policy file with each problem under its line, as a comment that points at the place. */
export function markedText(text: string, problems: readonly PolicyProblem[]): string {
  const lines = text.trimEnd().split('\n')
  return lines
    .flatMap((line, at) => [
      escapeLines(line),
      ...problems
        .filter((problem) => Math.min(problem.line, lines.length) === at + 1)
        .map(({ column, severity, message }) =>
          escapeText(`${' '.repeat(column - 1)}# ^ ${severity}: ${message}`),
        ),
    ])
    .join('\n')
}

export const hasError = (problems: readonly PolicyProblem[]): boolean =>
  problems.some(({ severity }) => severity === 'error')

/** How much of the files was checked, for somebody who wants to know that it was. */
export const passedText = ({
  rules,
  tests_passed,
}: Pick<PolicyVerdict, 'rules' | 'tests_passed'>): string =>
  `${counted(rules, 'rule')} and ${counted(tests_passed, 'test')} passed.`
