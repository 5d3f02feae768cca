import type { ExportPart, SignedNote } from '../ports/audit-export.ts'

/** A place that entries are carried to: it must have all of a part when the promise resolves. */
export type EntryTarget = {
  readonly takes: 'entries'
  deliver(part: ExportPart, signal: AbortSignal): Promise<void>
  /** Must raise where a delivery would fail now, and leave nothing behind that looks like entries. */
  probe(signal: AbortSignal): Promise<void>
}

/** A witness: it keeps checkpoints, so that a log which is put back or rewritten can be told. */
export type WitnessTarget = {
  readonly takes: 'checkpoints'
  /** Takes what it does not have yet, smallest first, one at least; the last of each kind stands for those before it. */
  witness(notes: readonly SignedNote[], signal: AbortSignal): Promise<void>
}

export type Target = EntryTarget | WitnessTarget

/** A part as one text: what `audit verify --export` takes. */
export const textOfPart = ({ header, entries, checkpoint }: ExportPart): string =>
  `${[header, ...entries, JSON.stringify({ checkpoint })].join('\n')}\n`

/** The name of a part: by its first entry, so that a part which is delivered again replaces itself. */
export const nameOfPart = ({ chain, from }: ExportPart): string =>
  `${chain}-${String(from.size).padStart(16, '0')}.jsonl`
