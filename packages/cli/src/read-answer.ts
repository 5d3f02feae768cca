import type { Question, QuestionField } from '@gatehouse/contract'
import { usageError } from './cli-error.ts'
import { escapeText } from './escape-text.ts'
import type { Io } from './io.ts'
import { readInputFile } from './read-input-file.ts'
import { readJsonObject } from './read-json-object.ts'
import { typedUnseen } from './read-secret.ts'

type Values = Record<string, unknown>

/** A typed line as a value of its field; what fits none goes as it is, and the service says what is wrong with it. */
const valueOf = ({ type }: QuestionField, text: string): unknown => {
  switch (type) {
    case 'boolean':
      return /^(?:y|yes|true)$/i.test(text) ? true : /^(?:n|no|false)$/i.test(text) ? false : text
    case 'number':
    case 'integer':
      return Number.isNaN(Number(text)) ? text : Number(text)
    case 'choices':
      return text
        .split(',')
        .map((part) => part.trim())
        .filter(Boolean)
    default:
      return text
  }
}

const hints: Readonly<Partial<Record<QuestionField['type'], string>>> = {
  boolean: ' (yes or no)',
  choices: ' (with commas between)',
}

async function typed(io: Io, fields: readonly QuestionField[]): Promise<Values> {
  const values: Values = {}
  for (const field of fields) {
    const name = `${escapeText(field.name)}${hints[field.type] ?? ''}`
    const text = field.secret
      ? await typedUnseen(io, `${name} (it is not shown): `)
      : await io.stdin.ask(`${name}: `)
    if (text !== '') values[field.name] = valueOf(field, text)
  }
  return values
}

/** The values of a form, typed one after the other, or from the input or a file; never from an argument. */
export async function readAnswer(
  io: Io,
  { fields }: Question,
  file: string | undefined,
): Promise<Values> {
  if (file === undefined && io.stdin.isTTY) return typed(io, fields)
  if (file === undefined)
    throw usageError('Give the values: --values FILE, or --values - for the input.')
  return readJsonObject(
    await readInputFile(file, io),
    'The values are a JSON object: {"NAME": VALUE, …}.',
  )
}
