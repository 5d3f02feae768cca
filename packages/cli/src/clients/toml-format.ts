import { parse, TomlError } from 'smol-toml'
import { type ConfigFormat, isMembers, Malformed } from './config-format.ts'

/** A string of TOML: its escapes are those of JSON. */
const quoted = (value: unknown): string => JSON.stringify(value)

const keyText = (name: string): string => (/^[\w-]+$/.test(name) ? name : quoted(name))

const valueText = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(valueText).join(', ')}]`
  if (value instanceof Date) return value.toISOString()
  if (!isMembers(value)) return quoted(value)
  const members = Object.entries(value).map(([name, one]) => `${keyText(name)} = ${valueText(one)}`)
  return `{ ${members.join(', ')} }`
}

const headerOf = (path: readonly string[]): string => `[${path.map(keyText).join('.')}]`

const isHeader = (line: string): boolean => /^\s*\[/.test(line)

/** Whether a line opens the table of a server, or one within it. */
const opens = (line: string, server: readonly string[]): boolean => {
  const [, path] = /^\s*\[([^[\]]+)\]\s*(?:#.*)?$/.exec(line) ?? []
  const words = (path ?? '').split('.').map((word) => word.trim().replaceAll(/^["']|["']$/g, ''))
  return server.every((word, at) => words[at] === word)
}

/** The lines without the table of a server. Comments in front of the next table stay with it. */
function linesWithout(lines: readonly string[], server: readonly string[]): string[] {
  const kept: string[] = []
  let skipping = false
  for (const line of lines) {
    if (isHeader(line)) skipping = opens(line, server)
    if (!skipping || line.trimStart().startsWith('#')) kept.push(line)
  }
  return kept
}

const endOf = (text: string): string => (text.includes('\r\n') ? '\r\n' : '\n')

const remove: ConfigFormat['remove'] = (text, list, name) =>
  linesWithout(text.split('\n'), [...list, name]).join('\n')

/** Tables as the plain objects that other readers make. */
const plain = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(plain)
  if (!isMembers(value) || value instanceof Date) return value
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, plain(one)]))
}

/** TOML. Only whole tables are written and taken out, so the rest of the text is never written anew. */
export const tomlFormat: ConfigFormat = {
  read(text) {
    try {
      const value = plain(parse(text))
      return isMembers(value) ? value : {}
    } catch (cause) {
      if (!(cause instanceof TomlError)) throw cause
      const [message = ''] = cause.message.split('\n')
      throw new Malformed(message, cause)
    }
  },
  set(text, list, name, entry) {
    const end = endOf(text)
    const others = remove(text, list, name).trimEnd()
    const lines = Object.entries(entry).map(
      ([member, value]) => `${keyText(member)} = ${valueText(value)}`,
    )
    const table = [headerOf([...list, name]), ...lines, ''].join(end)
    return others === '' ? table : `${others}${end}${end}${table}`
  },
  remove,
}
