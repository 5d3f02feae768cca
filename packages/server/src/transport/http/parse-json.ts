import { isAscii, isUtf8 } from 'node:buffer'
import { GatehouseError } from '@gatehouse/contract'
import { type JsonLimits, JsonScan } from './scan-json.ts'

/** A text of up to this many characters is scanned in one go; it takes about 3 ms. */
const sliceLength = 1024 * 1024

const decode = (bytes: Buffer): string => {
  if (isAscii(bytes)) return bytes.toString('latin1')
  // @SECURITY `toString` turns bad bytes into U+FFFD, so two different requests would become one.
  if (!isUtf8(bytes)) throw new GatehouseError('ParseError', { detail: 'it is not UTF-8' })
  return bytes.toString('utf8')
}

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown
  } catch (cause) {
    // The engine's message quotes the text, so only the log sees it.
    throw new GatehouseError('ParseError', { detail: 'it does not follow the grammar' }, { cause })
  }
}

/** Whether `parseJson` would hold the process up for long. */
export const needsSlices = (bytes: Buffer): boolean => bytes.length > sliceLength

/** Untrusted bytes to a value. Raises `ParseError`, or `InvalidRequest` with the scan's reason. */
export const parseJson = (bytes: Buffer, limits: JsonLimits): unknown => {
  const text = decode(bytes)
  new JsonScan(text, limits).walk(text.length)
  return parse(text)
}

/** The same for large bodies: others get their turn between slices of 1 MiB. */
export const parseJsonInSlices = async (bytes: Buffer, limits: JsonLimits): Promise<unknown> => {
  const text = decode(bytes)
  const scan = new JsonScan(text, limits)
  for (let end = sliceLength; !scan.walk(end); end += sliceLength) {
    await new Promise<void>((resolve) => setImmediate(resolve))
  }
  return parse(text)
}
