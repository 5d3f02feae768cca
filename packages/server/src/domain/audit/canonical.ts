import { GatehouseError } from '@gatehouse/contract'

/** Deeper than any request may be, with room for the entry around it. */
const depthMax = 100

const plain = /^[\x20\x21\x23-\x5b\x5d-\ud7ff\ue000-\uffff]*$/
const loneSurrogate = /\p{Surrogate}/u

const refuse = (where: string, what: string): never => {
  throw new GatehouseError('NotRecordable', { detail: `${where || 'the value'} ${what}` })
}

const textOf = (value: string, where: string): string => {
  if (plain.test(value)) return `"${value}"`
  if (loneSurrogate.test(value)) refuse(where, 'holds half a character (a lone surrogate)')
  return JSON.stringify(value)
}

const write = (value: unknown, where: string, depth: number): string => {
  if (value === null) return 'null'
  switch (typeof value) {
    case 'string':
      return textOf(value, where)
    case 'boolean':
      return value ? 'true' : 'false'
    case 'number':
      return Number.isFinite(value)
        ? JSON.stringify(value)
        : refuse(where, 'is not a finite number')
    case 'object':
      break
    default:
      return refuse(where, `is ${typeof value}, which JSON cannot carry`)
  }
  if (depth > depthMax) return refuse(where.slice(0, 80), `is nested deeper than ${depthMax}`)
  if (Array.isArray(value)) {
    let text = '['
    for (let i = 0; i < value.length; i++) {
      text += (i === 0 ? '' : ',') + write(value[i], `${where}[${i}]`, depth + 1)
    }
    return `${text}]`
  }
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) {
    return refuse(where, 'is not a plain object')
  }
  return writeObject(value as Readonly<Record<string, unknown>>, where, depth)
}

const fewKeys = 16

/** Names in canonical order. By insertion where they are few: `sort` takes memory even for two that are in order. */
export const keysInOrder = (value: object): string[] => {
  const keys = Object.keys(value)
  if (keys.length > fewKeys) return keys.sort()
  for (let i = 1; i < keys.length; i++) {
    const key = keys[i] as string
    let at = i
    for (; at > 0 && (keys[at - 1] as string) > key; at--) keys[at] = keys[at - 1] as string
    keys[at] = key
  }
  return keys
}

const writeObject = (
  value: Readonly<Record<string, unknown>>,
  where: string,
  depth: number,
): string => {
  let text = '{'
  for (const key of keysInOrder(value)) {
    if (text.length > 1) text += ','
    const at = where === '' ? key : `${where}.${key}`
    text += `${textOf(key, where)}:${write(value[key], at, depth + 1)}`
  }
  return `${text}}`
}

/**
 * RFC 8785 canonical JSON. Written by hand because every library at hand writes *something* for what JSON
 * cannot carry, and a log must not hold something else than what was decided on. Raises `NotRecordable`
 * for undefined, functions, big integers, non-finite numbers, lone surrogates, class instances and
 * nesting beyond any request.
 */
export const canonical = (value: unknown): string => write(value, '', 0)

/** The same of a text, or of none. */
export const canonicalText = (text: string | null): string =>
  text === null ? 'null' : textOf(text, '')
