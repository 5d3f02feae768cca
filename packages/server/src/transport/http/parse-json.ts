import { isAscii, isUtf8 } from 'node:buffer'
import { GatehouseError } from '@gatehouse/contract'
import { type JsonLimits, JsonScan, type ScanFault, scanError } from './scan-json.ts'

/** A text of up to this many characters is scanned in one go; it takes about 3 ms. */
const sliceLength = 1024 * 1024

export const decode = (bytes: Buffer): string => {
  if (isAscii(bytes)) return bytes.toString('latin1')
  // @SECURITY `toString` turns bad bytes into U+FFFD, so two requests would become one; rpc.test.ts.
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

/** Whether parsing would hold the process up for long. */
export const needsSlices = (bytes: Buffer): boolean => bytes.length > sliceLength

/** A value, and what its text said that the value can't be trusted with. */
export type ParsedJson = { readonly value: unknown; readonly faults: readonly ScanFault[] }

/** Raises `ParseError`, or `InvalidRequest` for too many keys or values. */
export const parseText = (text: string, limits: JsonLimits): ParsedJson => {
  const scan = new JsonScan(text, limits)
  scan.walk(text.length)
  return { value: parse(text), faults: scan.faults }
}

/** The same for large texts: others get their turn between slices of 1 MiB. */
export const parseTextInSlices = async (text: string, limits: JsonLimits): Promise<ParsedJson> => {
  const scan = new JsonScan(text, limits)
  for (let end = sliceLength; !scan.walk(end); end += sliceLength) {
    await new Promise<void>((resolve) => setImmediate(resolve))
  }
  return { value: parse(text), faults: scan.faults }
}

/** Untrusted bytes to a value without faults. Raises `ParseError`, or `InvalidRequest` with a reason. */
export const parseJson = (bytes: Buffer, limits: JsonLimits): unknown => {
  const { value, faults } = parseText(decode(bytes), limits)
  const [fault] = faults
  if (fault) throw scanError(fault.reason, fault.path)
  return value
}
