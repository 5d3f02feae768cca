import { isDeepStrictEqual } from 'node:util'
import {
  type Document,
  isAlias,
  isMap,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  parseDocument,
} from 'yaml'

/** Counted from 1, as editors do. */
export type Position = { readonly line: number; readonly column: number }
export type Path = readonly (string | number)[]
export type Fault = Position & { readonly message: string }

/** A YAML text as plain data that knows where each part of it stands. */
export type PlacedYaml = {
  readonly value: unknown
  /** Where the value at the path stands, or the nearest part above it that is there. */
  at(path: Path): Position
  /** Where the key at the path stands. */
  atKey(path: Path): Position
  /** Where a character of a text value stands; null when it is not written as it reads. */
  within(path: Path, offset: number): Position | null
}

export type YamlRead =
  | ({ readonly kind: 'ok' } & PlacedYaml)
  | { readonly kind: 'faults'; readonly faults: readonly Fault[] }

const bytesMax = 1_048_576
const depthMax = 64
const faultsMax = 20

type Found = (offset: number | undefined, message: string) => void
type Entry = { readonly node: unknown; readonly depth: number }

const checkKeys = (pairs: readonly Pair[], found: Found): void => {
  const seen = new Set<string>()
  for (const { key } of pairs) {
    if (!isScalar(key) || key.value === null || typeof key.value === 'object') {
      const node = key as Node | null
      found(node?.range?.[0], 'a key must be a plain word')
      continue
    }
    const name = `${key.value as string | number | boolean}`
    if (seen.has(name)) found(key.range?.[0], `the key ${name} stands here twice`)
    if (name === '__proto__') found(key.range?.[0], `the key ${name} cannot be used`)
    seen.add(name)
  }
}

const checkMarks = (node: { anchor?: string; tag?: string } & Node, found: Found): void => {
  if (node.anchor) found(node.range?.[0], 'anchors cannot be used')
  if (node.tag) found(node.range?.[0], `the tag ${node.tag} cannot be used`)
}

/** YAML constructs that a policy file may not have: they make a file mean more than a reader sees. */
const checkNodes = (document: Document, found: Found): void => {
  const open: Entry[] = [{ node: document.contents, depth: 0 }]
  for (let entry = open.pop(); entry; entry = open.pop()) {
    const { node, depth } = entry
    if (isPair(node)) {
      open.push({ node: node.value, depth }, { node: node.key, depth })
    } else if (isAlias(node)) {
      // @SECURITY an alias can make a small file unfold into a huge one (parse-file.test.ts).
      found(node.range?.[0], 'aliases cannot be used')
    } else if (isScalar(node)) {
      checkMarks(node, found)
    } else if (isMap(node) || isSeq(node)) {
      checkMarks(node, found)
      if (depth > depthMax) return found(node.range?.[0], `over ${depthMax} levels of nesting`)
      if (isMap(node)) checkKeys(node.items, found)
      for (const item of node.items) open.push({ node: item, depth: depth + 1 })
    }
  }
}

const pairAt = (node: unknown, part: string | number): Pair | null =>
  isMap(node)
    ? (node.items.find(({ key }) => isScalar(key) && String(key.value) === String(part)) ?? null)
    : null

const childOf = (node: unknown, part: string | number): unknown =>
  isSeq(node) ? node.items[Number(part)] : pairAt(node, part)?.value

const rangeStart = (node: unknown): number | undefined =>
  isScalar(node) || isMap(node) || isSeq(node) ? node.range?.[0] : undefined

const place = (document: Document, text: string, lines: LineCounter): PlacedYaml => {
  const position = (offset: number): Position => {
    const { line, col } = lines.linePos(offset)
    return { line, column: col }
  }
  const at = (path: Path): Position => {
    let node: unknown = document.contents
    let offset = rangeStart(node) ?? 0
    for (const part of path) {
      node = childOf(node, part)
      const start = rangeStart(node)
      if (start === undefined) break
      offset = start
    }
    return position(offset)
  }
  const nodeAt = (path: Path): unknown => path.reduce<unknown>(childOf, document.contents)
  return {
    value: document.toJS({ maxAliasCount: 0 }),
    at,
    atKey: (path) => {
      const last = path.at(-1)
      const pair = last === undefined ? null : pairAt(nodeAt(path.slice(0, -1)), last)
      const start = rangeStart(pair?.key)
      return start === undefined ? at(path) : position(start)
    },
    within: (path, offset) => {
      const node = nodeAt(path)
      if (!isScalar(node) || typeof node.value !== 'string' || !node.range) return null
      const [start, end] = node.range
      const quoted = text[start] === '"' || text[start] === "'" ? 1 : 0
      const written = text.slice(start + quoted, end - quoted)
      return written === node.value ? position(start + quoted + offset) : null
    },
  }
}

const sayings: Readonly<Record<string, string>> = {
  MULTIPLE_DOCS: 'a policy file holds one document',
  BAD_ALIAS: 'a value that begins with * must be quoted, as in "*"',
  TAB_AS_INDENT: 'tabs cannot be used for indentation',
}

/** Reads YAML 1.2 of the plain kind: no aliases, anchors, tags, directives or second documents. */
export const readYaml = (text: string): YamlRead => {
  const lines = new LineCounter()
  const faults: Fault[] = []
  const found: Found = (offset = 0, message) => {
    const { line, col } = lines.linePos(offset)
    const fault = { line: Math.max(1, line), column: col || 1, message }
    const isTold = faults.some((one) => isDeepStrictEqual(one, fault))
    if (faults.length < faultsMax && !isTold) faults.push(fault)
  }
  if (Buffer.byteLength(text) > bytesMax) {
    return { kind: 'faults', faults: [{ line: 1, column: 1, message: 'the file is over 1 MiB' }] }
  }
  try {
    // Duplicate keys are looked for below, since the library's own search is quadratic.
    const document = parseDocument(text, {
      version: '1.2',
      schema: 'core',
      strict: true,
      uniqueKeys: false,
      prettyErrors: false,
      lineCounter: lines,
    })
    for (const problem of [...document.errors, ...document.warnings]) {
      found(problem.pos[0], sayings[problem.code] ?? 'it is not valid YAML here')
    }
    if (document.directives?.yaml.explicit) found(0, 'directives cannot be used')
    const { contents } = document
    if (faults.length === 0 && (contents === null || (isScalar(contents) && !contents.value))) {
      found(0, 'the file is empty, and an empty file is not taken for a policy')
    }
    if (faults.length === 0) checkNodes(document, found)
    return faults.length > 0
      ? { kind: 'faults', faults }
      : { kind: 'ok', ...place(document, text, lines) }
  } catch {
    found(0, 'the file cannot be read as YAML')
    return { kind: 'faults', faults }
  }
}
