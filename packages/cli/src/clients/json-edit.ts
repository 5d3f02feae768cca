import { createScanner, type Node, parseTree } from 'jsonc-parser'

/** A piece of text that takes the place of another. */
export type Edit = { readonly from: number; readonly to: number; readonly text: string }

export const apply = (text: string, edits: readonly Edit[]): string =>
  edits
    .toSorted((a, b) => b.from - a.from)
    .reduce((all, { from, to, text: piece }) => all.slice(0, from) + piece + all.slice(to), text)

export const endOf = ({ offset, length }: Node): number => offset + length

export const lineStart = (text: string, at: number): number => text.lastIndexOf('\n', at - 1) + 1

export const indentAt = (text: string, at: number): string =>
  /^[^\S\r\n]*/.exec(text.slice(lineStart(text, at)))?.[0] ?? ''

/** How the file is written already. */
export const styleOf = (text: string) => ({
  step: /^[^\S\r\n]+(?=[^\s/*])/m.exec(text)?.[0] ?? '  ',
  eol: text.includes('\r\n') ? '\r\n' : '\n',
})

export const written = (value: unknown, text: string, indent: string): string => {
  const { step, eol } = styleOf(text)
  return JSON.stringify(value, null, step).replaceAll('\n', `${eol}${indent}`)
}

const isBlank = (text: string): boolean => text.trim() === ''

/** A member in front of the others, so that no comma and no comment of theirs is touched. */
export function insertFirst(text: string, object: Node, name: string, value: unknown): Edit {
  const { step, eol } = styleOf(text)
  const outer = indentAt(text, object.offset)
  const inner = `${outer}${step}`
  const comma = object.children?.length ? ',' : ''
  const member = `${inner}${JSON.stringify(name)}: ${written(value, text, inner)}${comma}`
  const open = object.offset + 1
  // Rest of the line of the brace: nothing or a comment, or the members themselves.
  const rest = /^[^\S\r\n]*(\/\/[^\r\n]*)?\r?\n/.exec(text.slice(open))
  if (rest) return { from: open + rest[0].length, to: open + rest[0].length, text: member + eol }
  const close = text.slice(open, endOf(object) - 1)
  if (isBlank(close))
    return { from: open, to: endOf(object) - 1, text: `${eol}${member}${eol}${outer}` }
  return { from: open, to: open, text: `${eol}${member}${eol}${inner}` }
}

/** The next comma, if nothing but white space and comments stands before it. */
export function commaAfter(text: string, at: number): number | null {
  const scanner = createScanner(text, true)
  scanner.setPosition(at)
  scanner.scan()
  const offset = scanner.getTokenOffset()
  return text[offset] === ',' ? offset : null
}

/** Takes out a member, with its lines where it has them for itself, and the comma that parted it. */
export function removeMember(text: string, object: Node, member: Node): Edit[] {
  const after = commaAfter(text, endOf(member))
  const others = object.children ?? []
  const before = others[others.indexOf(member) - 1]
  const parting = after ?? (before ? commaAfter(text, endOf(before)) : null)
  const adjoins = parting !== null && parting === endOf(member)
  const start = lineStart(text, member.offset)
  const hasLines = isBlank(text.slice(start, member.offset))
  const last = adjoins ? parting + 1 : endOf(member)
  const rest = hasLines ? /^[^\S\r\n]*\r?\n/.exec(text.slice(last)) : null
  const own = {
    from: rest ? start : member.offset,
    to: last + (rest?.[0].length ?? 0),
    text: '',
  }
  if (parting === null || adjoins) return [own]
  return [own, { from: parting, to: parting + 1, text: '' }]
}

export const memberOf = (object: Node | undefined, name: string): Node | undefined =>
  object?.children?.find(({ children }) => children?.[0]?.value === name)

export const treeOf = (text: string): Node => {
  const tree = parseTree(text, [], { allowTrailingComma: true })
  if (!tree) throw new TypeError('an empty text has no members')
  return tree
}

const valueOf = (object: Node | undefined, name: string): Node | undefined =>
  memberOf(object, name)?.children?.[1]

/** Sets one member of one object, which is made where it is missing, and touches nothing else. */
export function setMember(
  text: string,
  path: readonly string[],
  name: string,
  value: unknown,
): string {
  let object = treeOf(text)
  for (const [at, key] of path.entries()) {
    const inner = valueOf(object, key)
    if (inner?.type !== 'object') {
      const wrap = (within: unknown, outer: string) => ({ [outer]: within })
      const missing = path.slice(at + 1).reduceRight<unknown>(wrap, { [name]: value })
      return apply(text, [insertFirst(text, object, key, missing)])
    }
    object = inner
  }
  const present = valueOf(object, name)
  if (!present) return apply(text, [insertFirst(text, object, name, value)])
  const indent = indentAt(text, present.offset)
  const piece = written(value, text, indent)
  return apply(text, [{ from: present.offset, to: endOf(present), text: piece }])
}

export function unsetMember(text: string, path: readonly string[], name: string): string {
  const object = path.reduce<Node | undefined>(valueOf, treeOf(text))
  const member = memberOf(object, name)
  return object && member ? apply(text, removeMember(text, object, member)) : text
}
