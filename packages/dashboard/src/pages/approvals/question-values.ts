import type { QuestionField } from '@gatehouse/contract'

/** Values that were typed or chosen, by the names of the fields; of several choices each is an item. */
export type Typed = Readonly<Record<string, string | readonly string[]>>

const typedDefault = ({ type, default: given }: QuestionField): string | readonly string[] => {
  if (type === 'choices') return Array.isArray(given) ? given.map(String) : []
  return typeof given === 'string' || typeof given === 'number' || typeof given === 'boolean'
    ? String(given)
    : ''
}

/** A form with what the server takes where nothing is answered. */
export const defaultsOf = (fields: readonly QuestionField[]): Typed =>
  Object.fromEntries(fields.map((field) => [field.name, typedDefault(field)]))

const valueOf = ({ type }: QuestionField, typed: string | readonly string[]): unknown => {
  switch (type) {
    case 'boolean':
      return typed === 'true'
    case 'number':
    case 'integer':
      return Number(typed)
    default:
      return typed
  }
}

/** The values as the server takes them; a field without an answer is left out. */
export const valuesOf = (
  fields: readonly QuestionField[],
  typed: Typed,
): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    fields.flatMap((field) => {
      const written = Object.hasOwn(typed, field.name) ? (typed[field.name] ?? '') : ''
      return written.length === 0 ? [] : [[field.name, valueOf(field, written)]]
    }),
  )
