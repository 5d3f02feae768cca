/** Schema of one setting, as a kind of service gives it. */
export type Setting = {
  readonly type?: string
  readonly description?: string
  readonly default?: unknown
  readonly enum?: readonly unknown[]
  readonly maxLength?: number
}

type Schema = {
  readonly properties?: Readonly<Record<string, Setting>>
  readonly required?: readonly string[]
}

/** Texts that a person types for each setting; lists have one item a line. */
export type Typed = Readonly<Record<string, string>>

/** A certificate is many lines, which a field of one would lose. */
const lineMax = 2_000
export const hasLines = ({ type, maxLength = 0 }: Setting): boolean =>
  type === 'array' || maxLength > lineMax

/** Settings that a kind asks for: those without which nothing works, and the others. */
export function settingsIn(schema: Schema): {
  readonly needed: readonly (readonly [string, Setting])[]
  readonly others: readonly (readonly [string, Setting])[]
} {
  const all = Object.entries(schema.properties ?? {})
  const isNeeded = ([name, { default: given }]: readonly [string, Setting]) =>
    given === undefined && (schema.required ?? []).includes(name)
  return { needed: all.filter(isNeeded), others: all.filter((one) => !isNeeded(one)) }
}

const linesOf = (written: string): string[] =>
  written
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')

const valueOf = ({ type }: Setting, written: string): unknown => {
  if (type === 'integer' || type === 'number') return Number(written)
  if (type === 'boolean') return written === 'true'
  return type === 'array' ? linesOf(written) : written
}

/** Typed values as the service takes them; a field that is empty is left to its default. */
export const settingsOf = (schema: Schema, typed: Typed): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(schema.properties ?? {}).flatMap(([name, setting]) => {
      const written = typed[name] ?? ''
      return written === '' ? [] : [[name, valueOf(setting, written)]]
    }),
  )

export const textOf = (value: unknown): string =>
  Array.isArray(value) ? value.map(String).join('\n') : String(value as string | number | boolean)

/** Settings that are there, for a person to change. */
export const typedOf = (settings: Readonly<Record<string, unknown>>): Typed =>
  Object.fromEntries(Object.entries(settings).map(([name, value]) => [name, textOf(value)]))
