import { isUtf8 } from 'node:buffer'
import { GatehouseError } from '@gatehouse/contract'

export type Encoding = 'utf-8' | 'latin1' | 'base64'

/** A byte order mark stays, so that what is read can be written back as it was. */
export const decode = (bytes: Buffer, encoding: Encoding, path: string): string => {
  if (encoding !== 'utf-8') return bytes.toString(encoding)
  if (isUtf8(bytes)) return bytes.toString('utf8')
  const detail = 'it holds bytes that are no text in that encoding'
  throw new GatehouseError('InvalidEncoding', { path, encoding, detail })
}

const isBase64 = (content: string): boolean =>
  content.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(content)

/** Never drops or replaces a character silently, as `Buffer.from` does. */
export const encode = (content: string, encoding: Encoding, path: string): Buffer => {
  const refuse = (detail: string): GatehouseError =>
    new GatehouseError(
      'InvalidEncoding',
      { path, encoding, detail },
      {
        recovery: [{ action: 'encoding', description: 'Send the content in the encoding named.' }],
      },
    )
  if (encoding === 'base64' && !isBase64(content)) throw refuse('the content is not padded base64')
  if (encoding === 'latin1' && /[^\0-\xff]/.test(content)) {
    throw refuse('the content has characters that latin1 lacks')
  }
  if (encoding === 'utf-8' && !content.isWellFormed()) throw refuse('it has half a character')
  return Buffer.from(content, encoding === 'utf-8' ? 'utf8' : encoding)
}

const isContinuation = (byte: number | undefined): boolean =>
  byte !== undefined && (byte & 0xc0) === 0x80

/** The range widened to whole UTF-8 characters, by at most three bytes at either end. */
export const wholeCharacters = (
  bytes: Uint8Array,
  from: number,
  to: number,
): readonly [number, number] => {
  let start = from
  let end = to
  while (start > 0 && from - start < 3 && isContinuation(bytes[start])) start--
  while (end < bytes.length && end - to < 3 && isContinuation(bytes[end])) end++
  return [start, end]
}
