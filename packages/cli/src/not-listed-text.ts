import type { UnlistedEntries } from '@gatehouse/contract'
import { asNextStep } from './as-next-step.ts'
import { red } from './colour.ts'
import type { View } from './define.ts'

/** Lines about entries of the audit log that an answer lacks, though they are there. */
export const notListedLines = (
  notListed: readonly UnlistedEntries[] | undefined,
  { coloured, next }: View,
): readonly string[] =>
  (notListed ?? []).map(({ log, reason, remedy }) =>
    red(
      `NOT LISTED: in the log of ${log}, ${reason}. They are in: ${asNextStep(remedy, next)}`,
      coloured,
    ),
  )
