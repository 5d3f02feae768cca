import { type CatalogProblem, didYouMean, type ModelEntry } from '@gatehouse/contract'

/** The keys of an entry with their types: what the parser and the published schema both go by. */
export const entryKeys = {
  id: { type: 'string', required: true },
  url: { type: 'string', required: true },
  sha256: { type: 'string', required: true },
  size_bytes: { type: 'integer', required: true },
  label: { type: 'string', required: false },
  params: { type: 'string', required: false },
  license_tag: { type: 'string', required: false },
  description: { type: 'string', required: false },
} as const

type Key = keyof typeof entryKeys
export const entryKeyNames = Object.keys(entryKeys) as readonly Key[]

/** Keys that a publisher may not set: where an entry comes from, and which model others use by default. */
export const forbiddenKeys = ['source', 'default_model_id'] as const
export const reservedPrefixes = ['hf-', 'byom-'] as const
export const idLengthMax = 128
/** A hostile entry has a hundred thousand keys; the first few say what is wrong with it. */
const strangersMax = 20

type Problem = Omit<CatalogProblem, 'index' | 'id'>
const structural = (field: string | null, reason: string): Problem => ({
  kind: 'structural',
  field,
  reason,
})
const value = (field: Key, reason: string): Problem => ({ kind: 'value', field, reason })

const typeName = (raw: unknown): string => {
  if (raw === null) return 'null'
  if (Array.isArray(raw)) return 'an array'
  if (typeof raw === 'object') return 'an object'
  if (typeof raw === 'number') return Number.isInteger(raw) ? 'an integer' : 'a fraction'
  return `a ${typeof raw}`
}

const hasType = (raw: unknown, type: 'string' | 'integer'): boolean =>
  type === 'string' ? typeof raw === 'string' : Number.isInteger(raw)

/** The form of an entry: which keys, of which types. Any of these fails the whole file. */
export function structuralFaults(raw: unknown): readonly Problem[] {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw))
    return [structural(null, `must be an object, not ${typeName(raw)}`)]
  const given = raw as Readonly<Record<string, unknown>>
  const names = Object.keys(given)
  const strangers = names.filter((name) => !Object.hasOwn(entryKeys, name)).slice(0, strangersMax)
  const faults: Problem[] = []
  for (const [key, { type, required }] of Object.entries(entryKeys)) {
    if (!Object.hasOwn(given, key)) {
      if (!required) continue
      const near = strangers.find((name) => didYouMean(name, [key]) !== '')
      const hint = near === undefined ? '' : `; there is ${JSON.stringify(near)}, is it misspelled?`
      faults.push(structural(key, `is missing${hint}`))
    } else if (!hasType(given[key], type)) {
      const wanted = type === 'string' ? 'a string' : 'an integer'
      faults.push(structural(key, `must be ${wanted}, not ${typeName(given[key])}`))
    }
  }
  for (const key of forbiddenKeys)
    if (Object.hasOwn(given, key)) faults.push(structural(key, 'must not appear in the file'))
  return faults
}

/** Keys that no rule knows: ignored when the file is loaded, said when it is checked. */
export const strangeKeys = (
  given: Readonly<Record<string, unknown>>,
  known: readonly string[],
): readonly Problem[] =>
  Object.keys(given)
    .filter((name) => !known.includes(name) && !forbiddenKeys.some((key) => key === name))
    .slice(0, strangersMax)
    .map((name) => ({
      kind: 'notice',
      field: name.slice(0, 200),
      reason: `is not known and is ignored.${didYouMean(name, known)}`,
    }))

function idFault(id: string): string | null {
  if (id.length < 1 || id.length > idLengthMax)
    return `must have 1 to ${idLengthMax} characters, not ${id.length}`
  if (!/^[A-Za-z0-9._-]+$/.test(id)) return 'may hold only A-Z a-z 0-9 . _ and -'
  if (id.includes('..')) return 'must not contain ".."'
  if (id.startsWith('.') || id.startsWith('-')) return 'must not begin with "." or "-"'
  const prefix = reservedPrefixes.find((one) => id.startsWith(one))
  return prefix === undefined ? null : `must not begin with "${prefix}", which is reserved`
}

function urlFault(text: string): string | null {
  let url: URL
  try {
    url = new URL(text)
  } catch {
    return 'must be an address such as https://example.org/model.gguf'
  }
  // A text that a parser would correct (spaces, line breaks, backslashes) is not what was reviewed.
  if (/[\s\\\p{Cc}]/u.test(text)) return 'must not hold spaces, backslashes or control characters'
  if (url.protocol !== 'https:')
    return `must begin with https://, not with ${url.protocol.slice(0, 32)}`
  if (!/^https:\/\//i.test(text)) return 'must begin with https://'
  if (url.username !== '' || url.password !== '') return 'must not hold a name or a password'
  return null
}

const sizeFault = (size: number): string | null => {
  if (size <= 0) return 'must be greater than zero'
  return size > Number.MAX_SAFE_INTEGER ? 'is larger than any file' : null
}

/** The values of an entry of the right form. Any of these drops the entry alone. */
export function valueFaults(entry: ModelEntry): readonly Problem[] {
  const found: readonly (readonly [Key, string | null])[] = [
    ['id', idFault(entry.id)],
    ['url', urlFault(entry.url)],
    [
      'sha256',
      /^[0-9a-f]{64}$/.test(entry.sha256) ? null : 'must be 64 lowercase hexadecimal characters',
    ],
    ['size_bytes', sizeFault(entry.size_bytes)],
  ]
  return found.flatMap(([key, reason]) => (reason === null ? [] : [value(key, reason)]))
}

/** An entry of the right form, with the keys that are known and no others. */
export const pickEntry = (raw: unknown): ModelEntry => {
  const given = raw as Readonly<Record<string, unknown>>
  return Object.fromEntries(
    entryKeyNames.filter((key) => Object.hasOwn(given, key)).map((key) => [key, given[key]]),
  ) as ModelEntry
}
