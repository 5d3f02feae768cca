import type { PolicyProblem, PolicyVerdict } from '@gatehouse/contract'
import { counted } from './counted.ts'
import { escapeText } from './escape-text.ts'

/** As compilers print them, so that editors can jump to the place. */
export const problemLine = ({ file, line, column, severity, message }: PolicyProblem): string =>
  escapeText(`${file}:${line}:${column}: ${severity}: ${message}`)

export const hasError = (problems: readonly PolicyProblem[]): boolean =>
  problems.some(({ severity }) => severity === 'error')

/** How much of the files was checked, for somebody who wants to know that it was. */
export const passedText = ({
  rules,
  tests_passed,
}: Pick<PolicyVerdict, 'rules' | 'tests_passed'>): string =>
  `${counted(rules, 'rule')} and ${counted(tests_passed, 'test')} passed.`
