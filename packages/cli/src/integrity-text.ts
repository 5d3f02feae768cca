import type { Integrity, RemovedEntries, SignedRoot, UncheckedLog } from '@gatehouse/contract'
import { asNextStep } from './as-next-step.ts'
import { green, red } from './colour.ts'
import type { View } from './define.ts'
import type { NextStep } from './next-step.ts'
import { renderFields } from './table.ts'
import { shownTimes } from './times.ts'

const kindLabel = ({ integrity }: Integrity): string => (integrity === 'failed' ? 'Finding' : 'But')

const headline = ({ integrity, kind }: Integrity, { coloured }: View): string => {
  if (integrity === 'verified') return green('The log is verified.', coloured)
  if (integrity === 'incomplete') return red('NOT EVERY LOG COULD BE CHECKED.', coloured)
  const bad =
    kind === 'unanchored' ? 'NO CHECKPOINT COVERS THE END OF THE LOG.' : 'THE LOG IS NOT VERIFIED.'
  return red(bad, coloured)
}

const throughText = ({ verified_through, logs }: Integrity): string => {
  const through = verified_through < 0 ? 'an empty log' : String(verified_through)
  return logs ? `${through}, of the log of ${logs.own}` : through
}

const fields = (result: Integrity, next: NextStep): [string, string | number][] => [
  ...(result.removed
    ? [
        ['Verified from', `entry ${result.removed.entries}`] as [string, string],
        ['Before it', removedText(result.removed)] as [string, string],
      ]
    : []),
  ['Verified through', throughText(result)],
  ...(result.logs && result.integrity === 'verified'
    ? [['Other logs', `${result.logs.others}, and nothing is wrong`] as [string, string]]
    : []),
  ['Verified at', shownTimes(result.verified_at)],
  ...(result.unchecked ?? []).flatMap((one) => uncheckedFields('Not checked', one, next)),
  ...(result.root ? [['All logs', rootText(result.root)] as [string, string]] : []),
  ...(result.kind ? [[kindLabel(result), result.kind] as [string, string]] : []),
  ...(result.first_bad_log ? [['In the log of', result.first_bad_log] as [string, string]] : []),
  ...(result.first_bad_id ? [['First bad entry', result.first_bad_id] as [string, string]] : []),
  ...(result.first_bad_seq === undefined
    ? []
    : [['First bad number', result.first_bad_seq] as [string, number]]),
  ...(result.detail ? [['Detail', asNextStep(result.detail, next)] as [string, string]] : []),
]

/** A log that could not be asked, since when and why, and what to do about it. */
export const uncheckedFields = (
  title: string,
  { log, since, reason, remedy }: UncheckedLog,
  next: NextStep,
): [string, string][] => [
  [title, `the log of ${log}, since ${shownTimes(since)}`],
  ['Because', reason],
  ['Next step', asNextStep(remedy, next)],
]

/** Sentence about the entries that retention removed. */
export const removedText = ({ entries, removed_at, head }: RemovedEntries): string =>
  `${entries === 1 ? 'entry 0 was' : `entries 0 to ${entries - 1} were`} removed by retention on ${shownTimes(removed_at)}; the head before the rest, ${head}, is signed`

/** Sentence about the root over the heads of all logs. */
const rootText = ({ logs, root, chain, signed_at }: SignedRoot): string =>
  `${logs === 1 ? 'the log is' : `${logs} logs are`} as under ${root}, signed by ${chain} at ${shownTimes(signed_at)}`

/** The verdict about a log, and what is wrong with it. */
export const integrityText = (result: Integrity, view: View): string =>
  [headline(result, view), renderFields(fields(result, view.next), view)].join('\n')

/** The next step after a finding. */
export const acknowledgeLine = ({ remedy }: Integrity, next: NextStep): string =>
  remedy
    ? asNextStep(remedy, next)
    : `find out who can write to the data, keep a copy of the data directory, then: ${next('audit acknowledge --reason TEXT')}`
