/** One content line, such as `DTSTART;TZID=Europe/Berlin:20260330T090000`. */
export type IcsLine = {
  /** In capitals; empty for a line that is none. */
  readonly name: string
  /** By names in capitals; values without their quotes. */
  readonly params: ReadonlyMap<string, readonly string[]>
  /** As it stands there, unfolded, with its escapes. */
  readonly value: string
  /** The very characters, with folds and line ends: what is not changed is written back so. */
  readonly raw: string
}

export type IcsComponent = {
  readonly name: string
  readonly begin: string
  readonly end: string
  readonly parts: readonly IcsPart[]
}

export type IcsPart =
  | { readonly kind: 'line'; readonly line: IcsLine }
  | { readonly kind: 'component'; readonly component: IcsComponent }

/** `sound`: whether every line was one and everything was closed as it was opened. */
export type ParsedIcs = { readonly root: IcsComponent; readonly sound: boolean }

const charsMax = 1_048_576
const linesMax = 40_000
const depthMax = 6
const paramsMax = 32

/** The physical lines of a text, each with what ends it. */
const physicalLines = (text: string): string[] =>
  text.match(/[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+$/g) ?? []

const bare = (line: string): string => line.replace(/[\r\n]+$/, '')

/** Lines with their continuations. */
const logicalLines = (text: string): { readonly raw: string; readonly text: string }[] => {
  const lines: { raw: string[]; text: string[] }[] = []
  for (const line of physicalLines(text)) {
    const last = lines.at(-1)
    if (last && /^[ \t]/.test(line)) {
      last.raw.push(line)
      last.text.push(bare(line).slice(1))
    } else lines.push({ raw: [line], text: [bare(line)] })
  }
  return lines.map((line) => ({ raw: line.raw.join(''), text: line.text.join('') }))
}

const nameForm = /^[A-Za-z0-9-]{1,128}/

/** Where the next `;` or `:` outside of quotes stands, from `at`. */
const endOf = (text: string, at: number): number => {
  let quoted = false
  for (let i = at; i < text.length; i += 1) {
    const char = text[i]
    if (char === '"') quoted = !quoted
    else if (!quoted && (char === ';' || char === ':')) return i
  }
  return -1
}

const unquoted = (value: string): string =>
  value.startsWith('"') && value.endsWith('"') && value.length > 1 ? value.slice(1, -1) : value

/** RFC 6868. */
const unescapedParam = (value: string): string =>
  value.replace(/\^(['n^])/g, (_, c: string) => (c === 'n' ? '\n' : c === "'" ? '"' : '^'))

const paramValues = (text: string): string[] =>
  (text.match(/"[^"]*"|[^,]+/g) ?? [])
    .slice(0, paramsMax)
    .map((one) => unescapedParam(unquoted(one)))

const noLine = (raw: string, value: string): IcsLine => ({
  name: '',
  params: new Map(),
  value,
  raw,
})

const parseLine = (raw: string, text: string): IcsLine => {
  const name = nameForm.exec(text)?.[0]
  if (name === undefined) return noLine(raw, text)
  const params = new Map<string, string[]>()
  let at = name.length
  while (text[at] === ';') {
    const end = endOf(text, at + 1)
    if (end < 0 || params.size >= paramsMax) return noLine(raw, text)
    const param = text.slice(at + 1, end)
    const equals = param.indexOf('=')
    if (equals > 0)
      params.set(param.slice(0, equals).toUpperCase(), paramValues(param.slice(equals + 1)))
    at = end
  }
  if (text[at] !== ':') return noLine(raw, text)
  return { name: name.toUpperCase(), params, value: text.slice(at + 1), raw }
}

type Open = { name: string; begin: string; parts: IcsPart[] }

/** Ends the component that was opened last. */
const close = (stack: Open[], end: string): void => {
  const component = stack.pop() as Open
  stack.at(-1)?.parts.push({ kind: 'component', component: { ...component, end } })
}

/** Parts of the outermost component, with all that is still open ended. */
const closedParts = (stack: Open[]): readonly IcsPart[] => {
  while (stack.length > 1) close(stack, `END:${stack.at(-1)?.name}\r\n`)
  return stack[0]?.parts ?? []
}

/**
 * The components of a calendar object, without a judgement on what they say. Never fails and costs no more
 * than the text is long: what is too much or too deep is left out, and then it is not sound.
 */
export const parseIcs = (text: string): ParsedIcs => {
  let sound = text.length <= charsMax
  const lines = logicalLines(text.slice(0, charsMax))
  if (lines.length > linesMax) sound = false
  const stack: Open[] = [{ name: '', begin: '', parts: [] }]
  let skipping = 0
  for (const one of lines.slice(0, linesMax)) {
    const top = stack.at(-1) as Open
    const line = parseLine(one.raw, one.text)
    const opens = line.name === 'BEGIN'
    const closes = line.name === 'END'
    const component = line.value.trim().toUpperCase()
    if (skipping > 0 || (opens && stack.length > depthMax)) {
      sound = false
      skipping += opens ? 1 : closes ? -1 : 0
    } else if (opens) stack.push({ name: component, begin: one.raw, parts: [] })
    else if (closes) {
      if (top.name !== component || stack.length === 1) {
        sound = false
        continue
      }
      close(stack, one.raw)
    } else {
      if (line.name === '' && one.text.trim() !== '') sound = false
      top.parts.push({ kind: 'line', line })
    }
  }
  if (stack.length > 1) sound = false
  return { root: { name: '', begin: '', end: '', parts: closedParts(stack) }, sound }
}

/** The text of a component: byte for byte what was parsed, but for what was changed. */
export const formatIcs = ({ begin, end, parts }: IcsComponent): string =>
  begin +
  parts.map((part) => (part.kind === 'line' ? part.line.raw : formatIcs(part.component))).join('') +
  end

export const componentsOf = (component: IcsComponent, name: string): IcsComponent[] =>
  component.parts.flatMap((part) =>
    part.kind === 'component' && part.component.name === name ? [part.component] : [],
  )

export const linesOf = (component: IcsComponent, name: string): IcsLine[] =>
  component.parts.flatMap((part) =>
    part.kind === 'line' && part.line.name === name ? [part.line] : [],
  )

export const lineOf = (component: IcsComponent, name: string): IcsLine | null =>
  linesOf(component, name)[0] ?? null

/** Text of a value of the type TEXT. */
export const textOf = (value: string): string =>
  value.replace(/\\([\\;,nN])/g, (_, c: string) => (c === 'n' || c === 'N' ? '\n' : c))

export const escapedText = (text: string): string =>
  text.replace(/[\\;,]/g, (c) => `\\${c}`).replace(/\r\n|\n|\r/g, '\\n')

const lineBytesMax = 75

/** A content line as it is written: folded so that no line is too long and no character is cut. */
export const folded = (line: string): string => {
  const out: string[] = []
  let current = ''
  let bytes = 0
  for (const char of line) {
    const code = char.codePointAt(0) ?? 0
    const size = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4
    if (bytes + size > lineBytesMax) {
      out.push(current)
      current = ' '
      bytes = 1
    }
    current += char
    bytes += size
  }
  return `${[...out, current].join('\r\n')}\r\n`
}

const param = (value: string): string => {
  const safe = value.replace(/[\p{Cc}"]/gu, '')
  return /[;:,]/.test(safe) ? `"${safe}"` : safe
}

/** A content line of our own. `value` must be escaped as its type wants. */
export const writtenLine = (
  name: string,
  value: string,
  params: Readonly<Record<string, string>> = {},
): string =>
  folded(
    `${name}${Object.entries(params)
      .map(([key, one]) => `;${key}=${param(one)}`)
      .join('')}:${value.replace(/[\p{Cc}]/gu, '')}`,
  )

/** A component with its lines of this name replaced by others, in place of the first, or at the end of its lines. */
export const withLines = (
  component: IcsComponent,
  name: string,
  raws: readonly string[],
): IcsComponent => {
  const added: IcsPart[] = raws.map((raw) => ({
    kind: 'line',
    line: parseLine(raw, raw.replace(/\r\n /g, '').replace(/\r\n$/, '')),
  }))
  const isOld = (part: IcsPart) => part.kind === 'line' && part.line.name === name
  const first = component.parts.findIndex(isOld)
  const child = component.parts.findIndex(({ kind }) => kind === 'component')
  const at = first >= 0 ? first : child >= 0 ? child : component.parts.length
  const before = component.parts.slice(0, at)
  const after = component.parts.slice(at).filter((part) => !isOld(part))
  return { ...component, parts: [...before, ...added, ...after] }
}

/** A line end where the last line of a text lacks it, so that something can follow. */
export const ended = (raw: string): string => (/[\r\n]$/.test(raw) ? raw : `${raw}\r\n`)

const hiddenCharacters = /[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/gu

/** Text of strangers as it may be shown: cut, without characters that hide or turn what stands there. */
export const shownText = (text: string, charsMost: number): string =>
  text
    .slice(0, charsMost)
    .replace(/\r\n?/g, '\n')
    .replace(hiddenCharacters, (c) => (c === '\n' || c === '\t' ? c : ''))
    .toWellFormed()

export const shownLine = (text: string, charsMost: number): string =>
  shownText(text.replace(/\s+/g, ' '), charsMost).trim()
