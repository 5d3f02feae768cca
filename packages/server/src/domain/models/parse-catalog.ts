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
  } catch {
    return { reason: 'is not JSON' }
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

/** Value as text, if it is short: a hostile one may be nested deeper than a text can be made of it. */
const shown = (raw: unknown): string => {
  if (typeof raw === 'string') return `the text "${raw.slice(0, 60)}"`
  return typeof raw === 'object' && raw !== null ? 'something nested' : String(raw).slice(0, 60)
}

/** Every fault of form of one entry; nothing where it has none. */
type Judged = { readonly isBroken: boolean; readonly problems: readonly CatalogProblem[] }

function judgeEntry(raw: unknown, index: number): Judged {
  const faults = structuralFaults(raw)
  const isObject = typeof raw === 'object' && raw !== null && !Array.isArray(raw)
  const notices = isObject
    ? strangeKeys(raw as Readonly<Record<string, unknown>>, entryKeyNames)
    : []
  const problems = [...faults, ...notices].map((one) => ({ ...one, index, id: idOf(raw) }))
  return { isBroken: faults.length > 0, problems }
}

/** Reads the form of a catalog. Values are judged when it is merged: they drop entries, never the file. */
export function parseCatalog(bytes: Uint8Array): CatalogReading {
  if (bytes.length > catalogBytesMax)
    return refused(null, `has more than ${catalogBytesMax} bytes (1 MiB)`)
  const json = jsonOf(bytes)
  if ('reason' in json) return refused(null, json.reason)
  const { value: file } = json
  if (typeof file !== 'object' || file === null || Array.isArray(file))
    return refused(null, 'must be a JSON object')
  return judgeFile(file as Readonly<Record<string, unknown>>)
}

function judgeFile(given: Readonly<Record<string, unknown>>): CatalogReading {
  const models: readonly unknown[] = Array.isArray(given['models']) ? given['models'] : []
  const faults = topFaults(given)
  const notices = strangeKeys(given, ['$schema', 'schema_version', 'models'])
  const problems = [...faults, ...notices.map((one) => ({ ...one, index: null, id: null }))]
  const broken = new Set<number>()
  for (const [index, raw] of models.entries()) {
    const judged = judgeEntry(raw, index)
    if (judged.isBroken) broken.add(index)
    if (problems.length < problemsMax) problems.push(...judged.problems)
    // The entry is refused, and there is no more room to say why.
    else if (broken.size > 0) break
  }
  if (faults.length === 0 && broken.size === 0) {
    const entries = models.map((raw, index) => ({ index, entry: pickEntry(raw) }))
    return { kind: 'read', entries, problems }
  }
  // A person who checks a file wants to see all that is wrong with it, not the first layer of it.
  for (const [index, raw] of models.entries()) {
    if (problems.length >= problemsMax) break
    if (broken.has(index)) continue
    const id = idOf(raw)
    problems.push(...valueFaults(pickEntry(raw)).map((one) => ({ ...one, index, id })))
  }
  return { kind: 'refused', problems }
}
