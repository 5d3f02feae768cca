import type { RpcId } from '@gatehouse/contract'
import { isId } from './envelope.ts'

/** The index of the quote that ends the string whose opening quote is at `from`. */
const endOfString = (text: string, from: number): number => {
  for (let at = text.indexOf('"', from + 1); at !== -1; at = text.indexOf('"', at + 1)) {
    let backslashes = 0
    while (text[at - 1 - backslashes] === '\\') backslashes++
    if (backslashes % 2 === 0) return at
  }
  return text.length
}

const isExact = (id: unknown): id is RpcId =>
  isId(id) &&
  (typeof id !== 'string' || id.isWellFormed()) &&
  (typeof id !== 'number' || !Number.isInteger(id) || Number.isSafeInteger(id))

/** The value that begins at `from`, where it is one that an id can be. */
const readId = (text: string, from: number): RpcId => {
  const token =
    text[from] === '"'
      ? text.slice(from, endOfString(text, from) + 1)
      : (/^[^\s,{}[\]]{1,64}/.exec(text.slice(from, from + 65))?.[0] ?? '')
  try {
    const id: unknown = JSON.parse(token)
    return isExact(id) ? id : null
  } catch {
    return null
  }
}

const skipSpace = (text: string, from: number): number => {
  let at = from
  while (text.charCodeAt(at) <= 0x20) at++
  return at
}

/**
 * The id of a request that is too large to be parsed, so that its refusal can name it; null where the
 * text is no single request or its id is in doubt.
 */
export const findId = (text: string): RpcId => {
  let at = skipSpace(text, 0)
  if (text[at] !== '{') return null
  let found: RpcId = null
  let depth = 0
  let isKey = false
  for (; at < text.length; at++) {
    const c = text[at]
    if (c === '{' || c === '[') isKey = ++depth === 1
    else if (c === '}' || c === ']') depth--
    else if (c === ',') isKey = depth === 1
    else if (c === '"') {
      const end = endOfString(text, at)
      if (isKey && text.slice(at, end + 1) === '"id"') {
        if (found !== null) return null
        const colon = skipSpace(text, end + 1)
        found = text[colon] === ':' ? readId(text, skipSpace(text, colon + 1)) : null
      }
      isKey = false
      at = end
    }
  }
  return found
}
