/** An element without its namespace: names of DAV and CalDAV do not clash in what is read here. */
export type XmlElement = {
  readonly name: string
  /** As they stand in the tag. */
  readonly attributes: string
  readonly children: readonly XmlElement[]
  /** Text directly in the element, as it is. */
  readonly text: string
}

export class XmlInvalid extends Error {}

const depthMax = 40
const elementsMax = 500_000

const entities: Readonly<Record<string, string>> = {
  lt: '<',
  gt: '>',
  amp: '&',
  quot: '"',
  apos: "'",
}

const unescaped = (text: string): string =>
  text.includes('&')
    ? text.replace(/&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|(\w{1,10}));/gi, (all, hex, decimal, name) => {
        if (name !== undefined) return entities[String(name)] ?? all
        const code = hex === undefined ? Number(decimal) : Number.parseInt(String(hex), 16)
        return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : ''
      })
    : text

type Open = { name: string; attributes: string; children: XmlElement[]; text: string[] }

const after = (text: string, what: string, from: number): number => {
  const at = text.indexOf(what, from)
  if (at < 0) throw new XmlInvalid(`it ends before ${what}`)
  return at + what.length
}

/** The end of a tag that begins at `from`, past what stands in quotes. */
const tagEnd = (text: string, from: number): number => {
  let quote = ''
  for (let at = from; at < text.length; at += 1) {
    const char = text[at] as string
    if (quote !== '') quote = char === quote ? '' : quote
    else if (char === '"' || char === "'") quote = char
    else if (char === '>') return at
  }
  throw new XmlInvalid('it ends within a tag')
}

/**
 * The document as a tree. Costs no more than it is long. Raises `XmlInvalid` for what is none, and for what
 * declares anything: nobody needs that here but for harm.
 */
export const parseXml = (text: string): XmlElement => {
  const root: Open = { name: '', attributes: '', children: [], text: [] }
  const stack: Open[] = [root]
  let count = 0
  let at = 0
  const close = (name: string) => {
    const top = stack.pop()
    const parent = stack.at(-1)
    if (!top || !parent || top.name !== name) throw new XmlInvalid(`</${name}> closes nothing`)
    const { attributes, children } = top
    parent.children.push({ name, attributes, children, text: top.text.join('') })
  }
  const takeTag = (tag: string) => {
    const [all = '', closing, name] =
      /^<(\/)?(?:[\w.-]{1,100}:)?([\w.-]{1,100})/.exec(tag.slice(0, 300)) ?? []
    if (name === undefined) throw new XmlInvalid('it has a tag without a name')
    if (closing !== undefined) return close(name)
    count += 1
    if (count > elementsMax || stack.length > depthMax) throw new XmlInvalid('it is too large')
    stack.push({ name, attributes: tag.slice(all.length), children: [], text: [] })
    if (tag.endsWith('/')) close(name)
  }
  while (at < text.length) {
    const next = text.indexOf('<', at)
    const top = stack.at(-1) as Open
    const said = text.slice(at, next < 0 ? text.length : next)
    if (said !== '' && stack.length > 1) top.text.push(unescaped(said))
    if (next < 0) break
    if (text.startsWith('<!--', next)) at = after(text, '-->', next + 4)
    else if (text.startsWith('<![CDATA[', next)) {
      at = after(text, ']]>', next + 9)
      top.text.push(text.slice(next + 9, at - 3))
    } else if (text.startsWith('<?', next)) at = after(text, '?>', next + 2)
    else if (text.startsWith('<!', next)) throw new XmlInvalid('it has a declaration')
    else {
      const end = tagEnd(text, next + 1)
      at = end + 1
      takeTag(text.slice(next, end))
    }
  }
  const [document] = root.children
  if (stack.length > 1 || !document) throw new XmlInvalid('it is cut off')
  return document
}

export const escapedXml = (text: string): string =>
  text
    .replace(/[<>&"]/g, (c) => ({ '<': '&lt;', '>': '&gt;', '&': '&amp;' })[c] ?? '&quot;')
    .replace(/[^\P{Cc}\t\n\r]/gu, '')

export const childrenOf = (element: XmlElement | null | undefined, name: string): XmlElement[] =>
  element?.children.filter((one) => one.name === name) ?? []

export const childOf = (
  element: XmlElement | null | undefined,
  ...path: string[]
): XmlElement | null =>
  path.reduce<XmlElement | null>(
    (found, name) => found?.children.find((one) => one.name === name) ?? null,
    element ?? null,
  )
