import type { ASTNode } from '@marcbachmann/cel-js'
import type { PathForm } from '../domain/policy/types.ts'
import type { Shape } from './condition-budget.ts'
import { LinearPattern } from './linear-pattern.ts'
import { TimeZone, zonedFields } from './zoned-time.ts'

export type Inspected =
  | {
      readonly kind: 'ok'
      readonly readsArguments: boolean
      /** Names of the arguments that it reads; null where it could read any. */
      readonly reads: ReadonlySet<string> | null
      /** Texts that are written out in it. */
      readonly texts: readonly string[]
      readonly pathForm: PathForm
      readonly shape: Shape
    }
  | {
      readonly kind: 'problem'
      readonly problem: { readonly message: string; readonly offset: number }
    }

/** The loops of CEL and how many arguments make them loops. */
const loops: Readonly<Record<string, readonly number[]>> = {
  all: [2],
  exists: [2],
  exists_one: [2],
  map: [2, 3],
  filter: [2],
}
const loopsMax = 2
const zoned: ReadonlySet<string> = new Set(zonedFields)

class Refused extends Error {
  readonly offset: number
  constructor(message: string, node: ASTNode) {
    super(message)
    this.offset = node.start
  }
}

type Found = {
  absolute: boolean
  readsArguments: boolean
  readonly reads: Set<string>
  readonly texts: string[]
  readsAny: boolean
  loops: number
  additions: number
  literalList: number
  splits: boolean
  compares: boolean
}

const isLiteral = (node: ASTNode): boolean =>
  node.op === 'value' || (node.op === 'list' && node.args.every(isLiteral))

/** Puts a value made at load in the place of its text: a condition never makes one while it runs. */
const replaceText = <T>(
  node: ASTNode | undefined,
  call: ASTNode,
  what: string,
  make: (text: string) => T,
) => {
  if (node?.op !== 'value' || typeof node.args !== 'string') {
    throw new Refused(`${what} must be written out in quotes`, node ?? call)
  }
  try {
    Object.assign(node, { args: make(node.args) })
  } catch (cause) {
    throw new Refused(`${what} is not usable: ${(cause as Error).message}`, node)
  }
}

const inspectPattern = (
  call: ASTNode & { op: 'rcall' },
  pattern: ASTNode | undefined,
  found: Found,
): void => {
  if (pattern?.op === 'value' && /^(\(\?[a-z]+\))?\^?\(*\//.test(String(pattern.args)))
    found.absolute = true
  // @SECURITY The library's own matches would backtrack; cel.test.ts, "in linear time".
  replaceText(pattern, call, 'The pattern of matches', (text) => new LinearPattern(text))
}

const inspectCall = (node: ASTNode & { op: 'rcall' }, found: Found, depth: number): number => {
  const [name, receiver, args] = node.args
  if (name === 'matches' && args.length === 1) inspectPattern(node, args[0], found)
  if (zoned.has(name) && args.length === 1) {
    replaceText(args[0], node, 'The time zone', (text) => new TimeZone(text))
  }
  if (name === 'bind' && receiver.op === 'id' && receiver.args === 'cel') {
    throw new Refused('cel.bind is not part of policy conditions', node)
  }
  if (name === 'split') found.splits = true
  if (depth > 0 && (name === 'join' || name === 'split')) found.compares = true
  if (!loops[name]?.includes(args.length)) return depth
  if (depth + 1 > loopsMax) {
    throw new Refused(`${name} stands more than ${loopsMax} loops deep`, node)
  }
  found.loops = Math.max(found.loops, depth + 1)
  return depth + 1
}

const childrenOf = (node: ASTNode): readonly ASTNode[] => {
  switch (node.op) {
    case 'value':
    case 'id':
      return []
    case '.':
    case '.?':
      return [node.args[0]]
    case 'call':
      return node.args[1]
    case 'rcall':
      return [node.args[1], ...node.args[2]]
    case 'map':
      return node.args.flat()
    case '!_':
    case '-_':
      return [node.args]
    default:
      return node.args
  }
}

/** The name of the argument that is read there; null for anything else. */
const argumentAt = (node: ASTNode): string | null => {
  if (node.op !== '.' && node.op !== '[]') return null
  const [owner, key] = node.args
  if (owner.op !== 'id' || owner.args !== 'args') return null
  if (typeof key === 'string') return key
  return key.op === 'value' && typeof key.args === 'string' ? key.args : null
}

const comparisons: ReadonlySet<string> = new Set(['==', '!=', 'in'])

const note = (node: ASTNode, found: Found, depth: number): void => {
  if (node.op === 'value' && typeof node.args === 'string') {
    found.absolute ||= node.args.startsWith('/')
    found.texts.push(node.args)
  }
  if (node.op === 'id') {
    found.readsArguments ||= node.args === 'args' || node.args === 'host'
    // Where a host is looked for is no path; anything else of `args` could be one.
    found.readsAny ||= node.args === 'args'
  }
  if (node.op === '+') found.additions++
  if (node.op === 'list' || node.op === 'map') {
    found.literalList = Math.max(found.literalList, node.args.length)
  }
  if (depth > 0 && comparisons.has(node.op)) {
    found.compares ||= !childrenOf(node).some(isLiteral)
  }
}

const walk = (node: ASTNode, found: Found, depth: number): void => {
  const argument = argumentAt(node)
  if (argument !== null) {
    found.reads.add(argument)
    found.readsArguments = true
    return
  }
  note(node, found, depth)
  const inner = node.op === 'rcall' ? inspectCall(node, found, depth) : depth
  // The list that a loop goes over stands outside of it.
  childrenOf(node).forEach((child, index) => walk(child, found, index === 0 ? depth : inner))
}

/**
 * Looks over a parsed condition: refuses what could run away, swaps patterns and time zones for
 * values made now, and learns what the condition reads and how its cost grows.
 */
export const inspectExpression = (ast: ASTNode): Inspected => {
  const found: Found = {
    absolute: false,
    readsArguments: false,
    reads: new Set(),
    texts: [],
    readsAny: false,
    loops: 0,
    additions: 0,
    literalList: 0,
    splits: false,
    compares: false,
  }
  try {
    walk(ast, found, 0)
  } catch (cause) {
    if (!(cause instanceof Refused)) throw cause
    return { kind: 'problem', problem: { message: cause.message, offset: cause.offset } }
  }
  const { readsArguments, reads, readsAny, texts, absolute, ...shape } = found
  return {
    kind: 'ok',
    readsArguments,
    reads: readsAny ? null : reads,
    texts,
    pathForm: absolute ? 'absolute' : 'relative',
    shape,
  }
}
