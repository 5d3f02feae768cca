import type { QuestionField } from '@gatehouse/contract'
import { isKnownSecret, isLikelySecret } from '@gatehouse/contract/likely-secret'
import { visibleText } from './visible-text.ts'

type Schema = { readonly [keyword: string]: unknown }

type Format = 'email' | 'uri' | 'date' | 'date-time'

/** A field with what a value of it is checked by. */
export type FormField = Omit<QuestionField, 'choices' | 'type'> & {
  readonly type: QuestionField['type']
  /** Of a text its characters, of a list its items, of a number its value. */
  readonly min: number | null
  readonly max: number | null
  readonly format: Format | null
  readonly choices: readonly { readonly value: string; readonly label: string }[]
}

export type ReadForm =
  | { readonly kind: 'readable'; readonly fields: readonly FormField[] }
  | { readonly kind: 'unreadable'; readonly problem: string }

type Checked =
  | { readonly kind: 'valid'; readonly values: Readonly<Record<string, FormValue>> }
  | { readonly kind: 'invalid'; readonly problems: readonly string[] }

export type FormValue = string | number | boolean | readonly string[]

const fieldsMax = 50
const choicesMax = 200
const nameMax = 100
const labelMax = 200
const textMax = 1_000
const valueMax = 10_000

const formats: Readonly<Record<Format, { readonly say: string; readonly test: RegExp }>> = {
  email: { say: 'an address such as ana@example.org', test: /^[^\s@]{1,64}@[^\s@]{1,255}$/ },
  uri: { say: 'an address such as https://example.org', test: /^[a-z][a-z0-9+.-]*:\S+$/i },
  date: { say: 'a date such as 2026-11-23', test: /^\d{4}-\d{2}-\d{2}$/ },
  'date-time': {
    say: 'a time such as 2026-11-23T10:00:00Z',
    test: /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2})$/i,
  },
}

const secretWord =
  /passw|passphrase|secret|token|credential|authori[sz]ation|cookie|bearer|jwt|(?:api|access|private)[-_ ]?key|(?:^|[^a-z])(?:pin|otp)(?:$|[^a-z])/i

/** Whether something with this name is better kept by nobody. */
export const isSecretName = (name: string): boolean => secretWord.test(name)

const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const numberAt = (schema: Schema, key: string): number | null => {
  const value = schema[key]
  return typeof value === 'number' && Number.isFinite(value) ? value : null
}

const textAt = (schema: Schema, key: string, max: number): string | null => {
  const value = schema[key]
  return typeof value === 'string' && value !== '' ? visibleText(value, max) : null
}

const listAt = (schema: Schema, key: string): readonly unknown[] => {
  const value = schema[key]
  return Array.isArray(value) ? value.slice(0, choicesMax) : []
}

const choicesOf = (schema: Schema): FormField['choices'] => {
  const names = listAt(schema, 'enumNames')
  const plain = listAt(schema, 'enum').flatMap((value, i) => {
    if (typeof value !== 'string') return []
    const label = names[i]
    return [{ value, label: visibleText(typeof label === 'string' ? label : value, labelMax) }]
  })
  const titled = [...listAt(schema, 'oneOf'), ...listAt(schema, 'anyOf')].flatMap((one) => {
    const value = isSchema(one) ? one['const'] : undefined
    if (!isSchema(one) || typeof value !== 'string') return []
    return [{ value, label: textAt(one, 'title', labelMax) ?? visibleText(value, labelMax) }]
  })
  return [...plain, ...titled]
}

type Kind = Pick<FormField, 'type' | 'min' | 'max' | 'choices' | 'format'>

const formatOf = ({ format }: Schema): Format | null =>
  typeof format === 'string' && Object.hasOwn(formats, format) ? (format as Format) : null

const kindOf = (schema: Schema): Kind | null => {
  const { type, items } = schema
  const plain = { choices: [], format: null, min: null, max: null }
  if (type === 'boolean') return { ...plain, type }
  if (type === 'number' || type === 'integer')
    return { ...plain, type, min: numberAt(schema, 'minimum'), max: numberAt(schema, 'maximum') }
  if (type === 'string') {
    const choices = choicesOf(schema)
    if (choices.length > 0) return { ...plain, type: 'choice', choices }
    const [min, max] = [numberAt(schema, 'minLength'), numberAt(schema, 'maxLength')]
    return { ...plain, type: 'text', min, max, format: formatOf(schema) }
  }
  if (type !== 'array' || !isSchema(items)) return null
  const choices = choicesOf(items)
  const [min, max] = [numberAt(schema, 'minItems'), numberAt(schema, 'maxItems')]
  return choices.length > 0 ? { ...plain, type: 'choices', choices, min, max } : null
}

const ofWhat: Readonly<Record<FormField['type'], string>> = {
  text: ' characters',
  choices: ' choices',
  choice: '',
  number: '',
  integer: '',
  boolean: '',
}

const limitsOf = ({ type, min, max, format }: Kind): string | null => {
  const what = ofWhat[type]
  const bounds =
    min !== null && max !== null
      ? `${min} to ${max}${what}`
      : min !== null
        ? `at least ${min}${what}`
        : max !== null
          ? `at most ${max}${what}`
          : null
  const said = [...(format === null ? [] : [formats[format].say]), ...(bounds ? [bounds] : [])]
  return said.length === 0 ? null : said.join(', ')
}

/** Whether what is answered here is better kept by nobody: by what the field is called, or is said to be. */
const isSecret = (name: string, schema: Schema): boolean =>
  schema['format'] === 'password' ||
  schema['writeOnly'] === true ||
  [name, schema['title']].some((said) => typeof said === 'string' && isSecretName(said))

/** Fields of the form that a server asks with. It may ask for plain values only, each by its name. */
export const readForm = (schema: unknown): ReadForm => {
  const properties = isSchema(schema) ? schema['properties'] : null
  const unreadable = (problem: string): ReadForm => ({ kind: 'unreadable', problem })
  if (!isSchema(schema) || !isSchema(properties)) return unreadable('the form has no fields')
  const entries = Object.entries(properties)
  if (entries.length > fieldsMax) return unreadable(`the form has more than ${fieldsMax} fields`)
  const required = new Set(listAt(schema, 'required'))
  const fields: FormField[] = []
  for (const [name, property] of entries) {
    const kind = isSchema(property) ? kindOf(property) : null
    if (name === '' || name.length > nameMax || visibleText(name) !== name)
      return unreadable('the form has a field with a name that cannot be shown')
    if (!isSchema(property) || kind === null)
      return unreadable(`the field ${name} is of a kind that nobody could fill in`)
    const field = {
      name,
      title: textAt(property, 'title', labelMax),
      description: textAt(property, 'description', textMax),
      required: required.has(name),
      secret: isSecret(name, property),
      ...kind,
    }
    const given = property['default']
    const usual = given === undefined || problemOf(field, given) !== null ? {} : { default: given }
    fields.push({ ...field, limits: limitsOf(kind), ...usual })
  }
  return { kind: 'readable', fields }
}

type CheckedBy = Pick<
  FormField,
  'name' | 'required' | 'type' | 'min' | 'max' | 'format' | 'choices'
>

const outside = (value: number, { min, max }: CheckedBy): boolean =>
  (min !== null && value < min) || (max !== null && value > max)

const named = ({ choices }: CheckedBy): string =>
  choices
    .slice(0, 20)
    .map(({ value }) => JSON.stringify(value))
    .join(', ')

type Check = (value: unknown, field: CheckedBy) => string | null

const isChoiceOf =
  ({ choices }: CheckedBy) =>
  (value: unknown): boolean =>
    choices.some((choice) => choice.value === value)

const withinLimits = (size: number, field: CheckedBy): string | null =>
  outside(size, field) ? `must be ${limitsOf(field)}` : null

const checks: Readonly<Record<FormField['type'], Check>> = {
  boolean: (value) => (typeof value === 'boolean' ? null : 'must be true or false'),
  number: (value, field) =>
    typeof value === 'number' && Number.isFinite(value)
      ? withinLimits(value, field)
      : 'must be a number',
  integer: (value, field) =>
    Number.isInteger(value) ? withinLimits(value as number, field) : 'must be an integer',
  choice: (value, field) => (isChoiceOf(field)(value) ? null : `must be one of ${named(field)}`),
  choices: (value, field) =>
    Array.isArray(value) && value.every(isChoiceOf(field))
      ? withinLimits(value.length, field)
      : `must be a list of some of ${named(field)}`,
  text(value, field) {
    if (typeof value !== 'string') return 'must be a text'
    if (value.length > valueMax) return `must have at most ${valueMax} characters`
    if (field.format !== null && !formats[field.format].test.test(value))
      return `must be ${limitsOf(field)}`
    // JSON Schema counts code points.
    return withinLimits(Array.from(value).length, field)
  },
}

/** Fault of the value of a field, to go on after its name; null where nothing is. */
function problemOf(field: CheckedBy, value: unknown): string | null {
  return checks[field.type](value, field)
}

/** The values that go to the server: those given, and the usual ones of fields that nothing was given for. */
export const checkForm = (
  fields: readonly FormField[],
  given: Readonly<Record<string, unknown>>,
): Checked => {
  const known = new Set(fields.map(({ name }) => name))
  const problems = Object.keys(given)
    .filter((name) => !known.has(name))
    .map((name) => `${visibleText(name, nameMax)} is no field of the form`)
  const values: [string, FormValue][] = []
  for (const field of fields) {
    const { name, required } = field
    const value = Object.hasOwn(given, name) ? given[name] : field.default
    if (value === undefined) {
      if (required) problems.push(`${name} is missing`)
      continue
    }
    const problem = problemOf(field, value)
    if (problem !== null) problems.push(`${name} ${problem}`)
    else values.push([name, value as FormValue])
  }
  return problems.length > 0
    ? { kind: 'invalid', problems }
    : { kind: 'valid', values: Object.fromEntries(values) }
}

const isSecretField = (fields: readonly FormField[], name: string): boolean =>
  fields.find((field) => field.name === name)?.secret === true

const isKept = (value: FormValue): boolean =>
  typeof value !== 'string' || !isLikelySecret('', value)

/** The values as the log keeps them. */
export const keptValues = (
  fields: readonly FormField[],
  values: Readonly<Record<string, FormValue>>,
): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      !isSecretField(fields, name) && isKept(value) ? value : 'not kept',
    ]),
  )

/** Values that no answer of the server may bring to a model: what only looks random may be the id of something. */
export const secretsIn = (
  fields: readonly FormField[],
  values: Readonly<Record<string, FormValue>>,
): readonly string[] =>
  Object.entries(values).flatMap(([name, value]) =>
    typeof value === 'string' && (isSecretField(fields, name) || isKnownSecret(value))
      ? [value]
      : [],
  )
