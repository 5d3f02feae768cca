import { type ParseError, type ParseOptions, parse, printParseErrorCode } from 'jsonc-parser'
import { type ConfigFormat, type FormatName, isMembers, Malformed } from './config-format.ts'
import { setMember, unsetMember } from './json-edit.ts'

const bom = '\uFEFF'

const withoutBom = (text: string): string => (text.startsWith(bom) ? text.slice(1) : text)

const placeOf = (text: string, offset: number) => {
  const lines = text.slice(0, offset).split('\n')
  return { line: lines.length, column: (lines.at(-1) ?? '').length + 1 }
}

/** `CommaExpected` as words. */
const inWords = (code: string): string => {
  const words = code.replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter}`).toLowerCase()
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}.`
}

/** An empty file counts as an empty object, as the clients themselves take it. */
const bodyOf = (text: string): string => {
  const body = withoutBom(text)
  return body.trim() === '' ? '{}\n' : body
}

/** Changes a text behind the mark of its byte order, where it has one. */
export const editJson = (text: string, change: (body: string) => string): string =>
  `${text.startsWith(bom) ? bom : ''}${change(bodyOf(text))}`

const read = (text: string, options: ParseOptions) => {
  const body = bodyOf(text)
  const errors: ParseError[] = []
  const value: unknown = parse(body, errors, options)
  const [first] = errors
  if (first)
    throw new Malformed(inWords(printParseErrorCode(first.error)), placeOf(body, first.offset))
  if (isMembers(value)) return value
  throw new Malformed('It must be an object.', { line: 1, column: 1 })
}

export const jsonFormat = (name: Exclude<FormatName, 'toml'>): ConfigFormat => ({
  read: (text) =>
    read(text, { disallowComments: name === 'json', allowTrailingComma: name === 'jsonc' }),
  set: (text, list, name, entry) => editJson(text, (body) => setMember(body, list, name, entry)),
  remove: (text, list, name) => editJson(text, (body) => unsetMember(body, list, name)),
})
