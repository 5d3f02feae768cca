import type { CatalogVerdict, ModelEntry } from '@gatehouse/contract'
import { mergeModels } from './merge-models.ts'
import { parseCatalog } from './parse-catalog.ts'

/** Everything that is wrong with a catalog, and what becomes of it: by the rules that load it. */
export function validateCatalog(
  file: string,
  bytes: Uint8Array,
  builtIn: readonly ModelEntry[],
): CatalogVerdict {
  const reading = parseCatalog(bytes)
  if (reading.kind === 'refused')
    return {
      file,
      valid: false,
      outcome: 'refused',
      loaded: [],
      problems: [...reading.problems],
    }
  const merged = mergeModels(builtIn, reading.entries)
  const isWhole = merged.dropped.length === 0
  return {
    file,
    valid: isWhole,
    outcome: isWhole ? 'loads' : 'loads_partly',
    loaded: merged.models.filter(({ source }) => source === 'catalog').map(({ entry }) => entry.id),
    problems: [...reading.problems, ...merged.problems],
  }
}
