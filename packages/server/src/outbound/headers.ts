import { GatehouseError } from '@gatehouse/contract'

const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,128}$/
const plainValue = /^[\t\u0020-\u007e\u0080-\u00ff]*$/
const bytesMax = 32 * 1024
const countMax = 100

/** About the connection and not the message, or made here. */
const notYours = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'http2-settings',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** Headers that may go on to another origin; anything else may be a credential. */
const travels = new Set(['accept', 'accept-language', 'if-range', 'range', 'user-agent'])

const refuse = (detail: string): never => {
  throw new GatehouseError('RequestNotAllowed', { detail })
}

/** Checked headers, names in lower case. Raises `RequestNotAllowed` by the name, never by the value. */
export const checkHeaders = (given: Readonly<Record<string, string>>): Record<string, string> => {
  const entries = Object.entries(given)
  if (entries.length > countMax) refuse(`it has more than ${countMax} headers`)
  const checked = new Map<string, string>()
  let bytes = 0
  for (const [given, value] of entries) {
    const name = given.toLowerCase()
    if (!token.test(name)) refuse(`${JSON.stringify(given.slice(0, 64))} is no name of a header`)
    if (notYours.has(name) || name.startsWith('proxy-'))
      refuse(`the header ${name} is not the caller’s to set; leave it out`)
    if (!plainValue.test(value))
      refuse(`the value of the header ${name} holds a line break or another character that may not`)
    if (checked.has(name)) refuse(`the header ${name} is given twice`)
    bytes += name.length + value.length + 4
    checked.set(name, value)
  }
  if (bytes > bytesMax) refuse(`its headers have more than ${bytesMax} bytes`)
  return Object.fromEntries(checked)
}

export const travelling = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => travels.has(name)))

/** As answers are told: lower case, repeated ones joined. */
export const joinedHeaders = (
  headers: Readonly<Record<string, string | string[] | undefined>>,
): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name.toLowerCase(),
      Array.isArray(value) ? value.join(', ') : (value ?? ''),
    ]),
  )
