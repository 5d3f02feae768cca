import type { CatalogProblem, ModelEntry } from '@gatehouse/contract'
import {
  entryKeyNames,
  forbiddenKeys,
  pickEntry,
  strangeKeys,
  structuralFaults,
  valueFaults,
} from './entry-rules.ts'

/** The largest file that is read, in bytes. */
export const catalogBytesMax = 1_048_576
/** Enough to mend a file by; a hostile one must not make a list longer than itself. */
const problemsMax = 1_000

export type ReadEntry = { readonly index: number; readonly entry: ModelEntry }

/** Either every entry of the right form, or why the whole file is refused. Notices come with both. */
export type CatalogReading =
  | {
      readonly kind: 'read'
      readonly entries: readonly ReadEntry[]
      readonly problems: readonly CatalogProblem[]
    }
  | { readonly kind: 'refused'; readonly problems: readonly CatalogProblem[] }

const ofFile = (
  field: string | null,
  reason: string,
  kind: CatalogProblem['kind'] = 'structural',
): CatalogProblem => ({ kind, index: null, id: null, field, reason })

const refused = (field: string | null, reason: string): CatalogReading => ({
  kind: 'refused',
  problems: [ofFile(field, reason)],
})

const idOf = (raw: unknown): string | null => {
  const id = (raw as { id?: unknown } | null)?.id
  return typeof id === 'string' ? id.slice(0, 200) : null
}

function jsonOf(bytes: Uint8Array): { readonly value: unknown } | { readonly reason: string } {
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return { reason: 'is not UTF-8' }
  }
  try {
    return { value: JSON.parse(text) as unknown }
  } catch (cause) {
    return { reason: `is not JSON: ${cause instanceof Error ? cause.message : 'cannot be read'}` }
  }
}

function topFaults(file: Readonly<Record<string, unknown>>): readonly CatalogProblem[] {
  const faults: CatalogProblem[] = []
  const version = file['schema_version']
  if (!Object.hasOwn(file, 'schema_version')) faults.push(ofFile('schema_version', 'is missing'))
  else if (version !== 1)
    faults.push(ofFile('schema_version', `must be the integer 1, not ${shown(version)}`))
  if (!Object.hasOwn(file, 'models')) faults.push(ofFile('models', 'is missing'))
  else if (!Array.isArray(file['models'])) faults.push(ofFile('models', 'must be an array'))
  for (const key of forbiddenKeys)
    if (Object.hasOwn(file, key)) faults.push(ofFile(key, 'must not appear in the file'))
  return faults
}

const shown = (raw: unknown): string => (JSON.stringify(raw) ?? 'nothing').slice(0, 60)

/** Reads the form of a catalog. Values are judged when it is merged: they drop entries, never the file. */
export function parseCatalog(bytes: Uint8Array): CatalogReading {
  if (bytes.length > catalogBytesMax)
    return refused(null, `has more than ${catalogBytesMax} bytes (1 MiB)`)
  const json = jsonOf(bytes)
  if ('reason' in json) return refused(null, json.reason)
  const { value: file } = json
  if (typeof file !== 'object' || file === null || Array.isArray(file))
    return refused(null, 'must be a JSON object')
  const given = file as Readonly<Record<string, unknown>>
  const models: readonly unknown[] = Array.isArray(given['models']) ? given['models'] : []
  const problems = [...topFaults(given)]
  problems.push(
    ...strangeKeys(given, ['$schema', 'schema_version', 'models']).map((one) => ({
      ...one,
      index: null,
      id: null,
    })),
  )
  let broken = problems.some(({ kind }) => kind === 'structural')
  for (const [index, raw] of models.entries()) {
    const faults = structuralFaults(raw)
    broken ||= faults.length > 0
    const notices =
      typeof raw === 'object' && raw !== null && !Array.isArray(raw) ? noticesOf(raw) : []
    if (problems.length < problemsMax)
      problems.push(...[...faults, ...notices].map((one) => ({ ...one, index, id: idOf(raw) })))
  }
  if (broken) {
    // Whoever checks a file wants to see all that is wrong with it, not the first layer of it.
    for (const [index, raw] of models.entries())
      if (problems.length < problemsMax && structuralFaults(raw).length === 0)
        problems.push(
          ...valueFaults(pickEntry(raw)).map((one) => ({ ...one, index, id: idOf(raw) })),
        )
    return { kind: 'refused', problems }
  }
  return {
    kind: 'read',
    entries: models.map((raw, index) => ({ index, entry: pickEntry(raw) })),
    problems,
  }
}

const noticesOf = (raw: object) =>
  strangeKeys(raw as Readonly<Record<string, unknown>>, entryKeyNames)
