import type { ASTNode } from '@marcbachmann/cel-js'
import type { PolicyQuestion } from '../domain/policy/types.ts'
import { LinearPattern } from './linear-pattern.ts'

// Most conditions compare a field with a literal, which takes the library five times as long as this (ADR 0006). The
// same is done here for those forms alone whose outcome is beyond doubt. Anything
// else says `slow`, and the library decides; cel-fast.test.ts holds the two against each other.

/** The condition cannot be evaluated: a field is missing or of another type. */
export const failed = Symbol('failed')
/** Ask the library. */
export const slow = Symbol('slow')

type Outcome = boolean | typeof failed | typeof slow
export type FastCondition = (question: PolicyQuestion) => Outcome

type Read = (question: PolicyQuestion) => unknown
type Literal = string | number | bigint | boolean | null

const isRecord = (value: unknown): value is Record<string, unknown> => {
  if (typeof value !== 'object' || value === null) return false
  const { constructor } = value
  return constructor === undefined || constructor === Object
}

/** A value of a kind that arguments are made of. Anything else fails in the library too. */
const isPlain = (value: unknown): boolean =>
  typeof value !== 'object' || value === null || Array.isArray(value) || isRecord(value)

const fieldOf = (value: unknown, key: string): unknown => {
  if (!isRecord(value) || !Object.hasOwn(value, key)) return failed
  const found = value[key]
  if (typeof found === 'string' || typeof found === 'number') return found
  return found === undefined || !isPlain(found) ? failed : found
}

const keyOf = (node: ASTNode): string | null => {
  if (node.op === '.') return node.args[1]
  if (node.op !== '[]') return null
  const [, index] = node.args
  return index.op === 'value' && typeof index.args === 'string' ? index.args : null
}

const readerOf = (node: ASTNode): Read | null => {
  if (node.op !== '.' && node.op !== '[]') return null
  const key = keyOf(node)
  const [owner] = node.args
  if (key === null) return null
  if (owner.op !== 'id') {
    const inner = readerOf(owner)
    return inner ? (question) => fieldOf(inner(question), key) : null
  }
  if (owner.args === 'args') return (question) => fieldOf(question.args, key)
  if (node.op !== '.') return null
  if (owner.args === 'agent') return ({ agent }) => agent[key as keyof typeof agent] ?? slow
  if (owner.args === 'session') return ({ session }) => session[key as keyof typeof session] ?? slow
  return null
}

/** An int of the expression as a number where that is exact: the two compare much faster. */
const small = <T extends number | bigint>(value: T): number | T =>
  typeof value === 'bigint' && Number.isSafeInteger(Number(value)) ? Number(value) : value

const literalOf = (node: ASTNode): { readonly value: Literal } | null => {
  if (node.op === '-_' && node.args.op === 'value') {
    const { args } = node.args
    return typeof args === 'number' || typeof args === 'bigint' ? { value: small(-args) } : null
  }
  if (node.op !== 'value') return null
  const { args } = node
  if (typeof args === 'object' && args !== null) return null
  return { value: typeof args === 'bigint' ? small(args) : (args as Literal) }
}

const isNumber = (value: unknown): value is number | bigint =>
  typeof value === 'number' || typeof value === 'bigint'

const isEqual = (value: unknown, literal: Literal): Outcome => {
  if (value === failed) return failed
  if (value === slow || (typeof value === 'object' && value !== null)) return slow
  // Beyond the safe integers a number and an int are the library's business.
  return isNumber(value) && typeof literal === 'bigint' ? slow : value === literal
}

const negate = (outcome: Outcome): Outcome => (typeof outcome === 'boolean' ? !outcome : outcome)

const equality = (left: ASTNode, right: ASTNode): FastCondition | null => {
  const read = readerOf(left) ?? readerOf(right)
  const literal = literalOf(right) ?? literalOf(left)
  return read && literal ? (question) => isEqual(read(question), literal.value) : null
}

type Comparable = string | number | bigint
type Order = (a: Comparable, b: Comparable) => boolean
const orders: Readonly<Record<'<' | '<=' | '>' | '>=', Order>> = {
  '<': (a, b) => a < b,
  '<=': (a, b) => a <= b,
  '>': (a, b) => a > b,
  '>=': (a, b) => a >= b,
}

const order = (holds: Order, left: ASTNode, right: ASTNode): FastCondition | null => {
  const literal = literalOf(right)?.value
  const read = readerOf(left)
  if (!read || !(typeof literal === 'string' || isNumber(literal))) return null
  return (question) => {
    const value = read(question)
    if (value === slow) return slow
    if (isNumber(value) && isNumber(literal)) return holds(value, literal)
    if (typeof value === 'string' && typeof literal === 'string') return holds(value, literal)
    return failed
  }
}

const membership = (left: ASTNode, right: ASTNode): FastCondition | null => {
  const read = readerOf(left)
  if (!read || right.op !== 'list') return null
  const literals = right.args.map((item) => literalOf(item)?.value)
  if (!literals.every((item): item is string => typeof item === 'string')) return null
  const known = new Set(literals)
  return (question) => {
    const value = read(question)
    return value === failed ? failed : typeof value === 'string' ? known.has(value) : slow
  }
}

type Check = (value: string) => boolean
const checkOf = (name: string, given: unknown): Check | null => {
  if (name === 'matches' && given instanceof LinearPattern) return (value) => given.test(value)
  if (typeof given !== 'string') return null
  if (name === 'startsWith') return (value) => value.startsWith(given)
  if (name === 'endsWith') return (value) => value.endsWith(given)
  return name === 'contains' ? (value) => value.includes(given) : null
}

/** The name of a top-level argument that a method is called on; null for anything else. */
const argumentOf = (node: ASTNode): string | null => {
  if (node.op !== '.' && node.op !== '[]') return null
  const [owner] = node.args
  return owner.op === 'id' && owner.args === 'args' ? keyOf(node) : null
}

/** Whether the folders that an agent has rule it out already, so that nobody has to look at the disk. */
const ruledOut = (name: string, receiver: ASTNode, given: unknown) => {
  const key = name === 'startsWith' ? argumentOf(receiver) : null
  if (key === null || typeof given !== 'string') return null
  return (question: PolicyQuestion): boolean => question.canLeadTo?.(key, given) === false
}

const method = (node: ASTNode & { op: 'rcall' }): FastCondition | null => {
  const [name, receiver, [argument, ...more]] = node.args
  const read = readerOf(receiver)
  if (!read || argument?.op !== 'value' || more.length > 0) return null
  const check = checkOf(name, argument.args)
  if (!check) return null
  const isRuledOut = ruledOut(name, receiver, argument.args)
  return (question) => {
    if (isRuledOut?.(question)) return false
    const value = read(question)
    if (value === slow) return slow
    if (typeof value !== 'string') return failed
    try {
      return check(value)
    } catch {
      return failed
    }
  }
}

const presence = (node: ASTNode & { op: 'call' }): FastCondition | null => {
  const [name, [path, ...more]] = node.args
  if (name !== 'has' || path?.op !== '.' || more.length > 0) return null
  const [owner, key] = path.args
  const read: Read | null =
    owner.op === 'id' && owner.args === 'args'
      ? // Wherever paths lead, the same arguments are there.
        (question) => question.written ?? question.args
      : readerOf(owner)
  if (!read) return null
  return (question) => {
    const value = read(question)
    if (value === failed) return failed
    if (!isRecord(value)) return slow
    if (!Object.hasOwn(value, key) || value[key] === undefined) return false
    return isPlain(value[key]) ? true : failed
  }
}

/** `stop` decides by itself, wherever it stands: true for `||`, false for `&&`. A failure waits for it. */
const logic =
  (stop: boolean, left: FastCondition, right: FastCondition): FastCondition =>
  (question) => {
    const first = left(question)
    if (first === stop || first === slow) return first
    const second = right(question)
    if (second === stop || second === slow) return second
    return first === failed ? failed : second
  }

const truth = (node: ASTNode): FastCondition | null => {
  const read = readerOf(node)
  if (!read) return null
  return (question) => {
    const value = read(question)
    return typeof value === 'boolean' || value === slow ? value : failed
  }
}

const not = (inner: FastCondition | null): FastCondition | null =>
  inner && ((question) => negate(inner(question)))

const isOrder = (node: ASTNode): node is ASTNode & { op: keyof typeof orders } =>
  Object.hasOwn(orders, node.op)

/** Null for a form that is left to the library. */
export const compileFast = (node: ASTNode): FastCondition | null => {
  switch (node.op) {
    case '&&':
    case '||': {
      const [left, right] = node.args.map(compileFast)
      return left && right ? logic(node.op === '||', left, right) : null
    }
    case '!_':
      return not(compileFast(node.args))
    case '==':
      return equality(...node.args)
    case '!=':
      return not(equality(...node.args))
    case 'in':
      return membership(...node.args)
    case 'rcall':
      return method(node)
    case 'call':
      return presence(node)
    case '.':
    case '[]':
      return truth(node)
    default:
      return isOrder(node) ? order(orders[node.op], ...node.args) : null
  }
}
