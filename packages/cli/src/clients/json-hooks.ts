import type { Node } from 'jsonc-parser'
import {
  apply,
  commaAfter,
  type Edit,
  endOf,
  indentAt,
  insertFirst,
  lineStart,
  memberOf,
  removeMember,
  styleOf,
  treeOf,
  written,
} from './json-edit.ts'

const hooksOf = (root: Node): Node | undefined => memberOf(root, 'hooks')?.children?.[1]

const listOf = (root: Node, event: string): Node | undefined =>
  memberOf(hooksOf(root), event)?.children?.[1]

/** A value behind the others: what a client remembers of a hook by its place in the list stays true. */
function append(text: string, list: Node, value: unknown): Edit[] {
  const { step, eol } = styleOf(text)
  const last = list.children?.at(-1)
  if (!last) {
    const outer = indentAt(text, list.offset)
    const inner = `${outer}${step}`
    const close = endOf(list) - 1
    const kept = text.slice(list.offset + 1, close).trimEnd()
    const piece = `${kept}${eol}${inner}${written(value, text, inner)}${eol}${outer}`
    return [{ from: list.offset + 1, to: close, text: piece }]
  }
  const end = endOf(last)
  const comma = commaAfter(text, end)
  const indent = indentAt(text, last.offset)
  const hasLine = text.slice(lineStart(text, last.offset), last.offset).trim() === ''
  const member = `${hasLine ? `${eol}${indent}` : ' '}${written(value, text, indent)}`
  const behind = comma === null ? end : comma + 1
  // A comment on the line of the last one stays with it.
  const rest = /^[^\S\r\n]*\/\/[^\r\n]*(?=\r?\n)/.exec(text.slice(behind))
  const at = behind + (rest?.[0].length ?? 0)
  if (comma !== null) return [{ from: at, to: at, text: `${member},` }]
  if (at === end) return [{ from: end, to: end, text: `,${member}` }]
  return [
    { from: end, to: end, text: ',' },
    { from: at, to: at, text: member },
  ]
}

/** Puts a hook into the list of its event: in the place of another, or as the last. */
export function setHook(
  text: string,
  event: string,
  { at, item }: { readonly at: number | null; readonly item: unknown },
): string {
  const root = treeOf(text)
  const hooks = hooksOf(root)
  if (!hooks) return apply(text, [insertFirst(text, root, 'hooks', { [event]: [item] })])
  const list = listOf(root, event)
  if (!list) return apply(text, [insertFirst(text, hooks, event, [item])])
  const present = at === null ? undefined : list.children?.[at]
  if (!present) return apply(text, append(text, list, item))
  const piece = written(item, text, indentAt(text, present.offset))
  return apply(text, [{ from: present.offset, to: endOf(present), text: piece }])
}

/** Takes a hook out of the list of its event, and the list and all lists where nothing else is in them. */
export function unsetHook(text: string, event: string, at: number): string {
  const root = treeOf(text)
  const hooks = hooksOf(root)
  const list = listOf(root, event)
  const item = list?.children?.[at]
  if (!hooks || !list || !item) return text
  if (list.children?.length !== 1) return apply(text, removeMember(text, list, item))
  const [object, name] = hooks.children?.length === 1 ? [root, 'hooks'] : [hooks, event]
  const member = memberOf(object, name)
  return member ? apply(text, removeMember(text, object, member)) : text
}

/** Names the version of the form in a file that does not. */
export function setVersion(text: string): string {
  const root = treeOf(text)
  return memberOf(root, 'version') ? text : apply(text, [insertFirst(text, root, 'version', 1)])
}
