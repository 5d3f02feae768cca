import type { PolicyProblem } from '@gatehouse/contract'
import { escapeText } from './escape-text.ts'

/** As compilers print them, so that editors can jump to the place. */
export const problemLine = ({ file, line, column, severity, message }: PolicyProblem): string =>
  escapeText(`${file}:${line}:${column}: ${severity}: ${message}`)

export const hasError = (problems: readonly PolicyProblem[]): boolean =>
  problems.some(({ severity }) => severity === 'error')
