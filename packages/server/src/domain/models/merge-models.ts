import type { CatalogProblem, DroppedEntry, ModelEntry, ModelSource } from '@gatehouse/contract'
import { valueFaults } from './entry-rules.ts'
import type { ReadEntry } from './parse-catalog.ts'

export type OfferedModel = { readonly entry: ModelEntry; readonly source: ModelSource }

export type Merged = {
  /** Built-in ones first, then those of the catalog in its order. */
  readonly models: readonly OfferedModel[]
  /** One for each entry that is not among them, in its order. */
  readonly dropped: readonly DroppedEntry[]
  /** The same with every fault of an entry, for whoever checks a file. */
  readonly problems: readonly CatalogProblem[]
}

/**
 * A catalog only adds models. @SECURITY What is built in stays as it is: an entry with its id is dropped;
 * catalog.test.ts fails without it.
 */
export function mergeModels(builtIn: readonly ModelEntry[], entries: readonly ReadEntry[]): Merged {
  const models: OfferedModel[] = builtIn.map((entry) => ({ entry, source: 'built-in' }))
  const reserved = new Set(builtIn.map(({ id }) => id))
  const taken = new Map<string, number>()
  const dropped: DroppedEntry[] = []
  const problems: CatalogProblem[] = []
  for (const { index, entry } of entries) {
    const faults = [...valueFaults(entry)]
    const earlier = taken.get(entry.id)
    if (reserved.has(entry.id))
      faults.push({ kind: 'value', field: 'id', reason: 'is the id of a built-in model' })
    else if (earlier !== undefined)
      faults.push({ kind: 'value', field: 'id', reason: `is already that of entry ${earlier}` })
    const [first] = faults
    if (first === undefined) {
      taken.set(entry.id, index)
      models.push({ entry, source: 'catalog' })
      continue
    }
    const id = entry.id.slice(0, 200)
    dropped.push({ id, index, field: first.field, reason: `${first.field} ${first.reason}` })
    problems.push(...faults.map((fault) => ({ ...fault, index, id })))
  }
  return { models, dropped, problems }
}
