/** A whole request to `/rpc` that leaves no two readers a choice of where it ends. */
export type PlainPost = {
  /** Names and values in turn, as Node lists them. */
  readonly rawHeaders: readonly string[]
  readonly body: Buffer
}

const headBytesMax = 8 * 1024
const requestLine = 'POST /rpc HTTP/1.1\r\n'
const headEnd = Buffer.from('\r\n\r\n')
/** A token, a colon, a space, and words of visible ASCII with one space between them. */
const field = /([!#$%&'*+\-.^_`|~0-9A-Za-z]+): ([\x21-\x7e]+(?: [\x21-\x7e]+)*)\r\n/y
const plainLength = /^[1-9]\d{0,7}$/

/** Other fields that change where a message ends, or what becomes of its connection. */
const framing = new Set(['transfer-encoding', 'expect', 'upgrade', 'proxy-connection'])

/**
 * Reads a chunk that is exactly one request of the strict grammar; null for anything else, which
 * node:http judges. Nothing is repaired or tolerated here.
 *
 * @SECURITY A chunk that two parsers could split differently must give null; smuggling.test.ts.
 */
export const readPlainPost = (chunk: Buffer): PlainPost | null => {
  const bodyAt = chunk.indexOf(headEnd) + headEnd.length
  if (bodyAt < headEnd.length || bodyAt > headBytesMax) return null
  const head = chunk.toString('latin1', 0, bodyAt)
  if (!head.startsWith(requestLine)) return null
  const rawHeaders: string[] = []
  let length: string | undefined
  let at = (field.lastIndex = requestLine.length)
  for (let found = field.exec(head); found; found = field.exec(head)) {
    const [, name = '', value = ''] = found
    const known = name.toLowerCase()
    if (known === 'content-length') {
      if (length !== undefined || !plainLength.test(value)) return null
      length = value
    } else if (known === 'connection') {
      if (value.toLowerCase() !== 'keep-alive') return null
    } else if (framing.has(known)) return null
    rawHeaders.push(name, value)
    at = field.lastIndex
  }
  if (at !== bodyAt - 2 || Number(length) !== chunk.length - bodyAt) return null
  return { rawHeaders, body: chunk.subarray(bodyAt) }
}
