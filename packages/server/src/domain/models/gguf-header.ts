import type { ModelHeader } from '@gatehouse/contract'
import {
  checkArchitecture,
  type GgufValues,
  isKnownArchitecture,
  wholeNumber,
} from './gguf-architecture.ts'
import { GgufCursor, HeaderIncomplete, HeaderRefused, quoted, refuse } from './gguf-cursor.ts'
import { readTensors } from './gguf-tensors.ts'
import { type GgufValue, readValue } from './gguf-values.ts'

/** More of a file than this is never looked at for its header. */
export const headerBytesMax = 64 * 1024 * 1024
const valuesMax = 4_096
const tensorsMax = 16_384
const magic = 0x4655_4747

export type GgufReading =
  | { readonly kind: 'accepted'; readonly header: ModelHeader }
  /** Bytes that end inside the header: come again with at least so much of the file. */
  | { readonly kind: 'incomplete'; readonly atLeast: number }
  | { readonly kind: 'refused'; readonly reason: string }

function readValues(cursor: GgufCursor, count: number): GgufValues {
  const values = new Map<string, GgufValue>()
  for (let i = 0; i < count; i += 1) {
    const key = cursor.text('a key')
    if (!/^[A-Za-z0-9._-]{1,256}$/.test(key)) refuse(`the key ${quoted(key)} is no name`)
    if (values.has(key)) refuse(`there are two values of ${quoted(key)}`)
    values.set(key, readValue(cursor, key))
  }
  return values
}

function readAlignment(values: GgufValues): number {
  const value = values.get('general.alignment')
  if (value === undefined) return 32
  const alignment = value.kind === 'number' ? value.value : 0
  const isPower = Number.isInteger(alignment) && Math.log2(alignment) % 1 === 0
  return isPower && alignment >= 8 && alignment <= 65_536
    ? alignment
    : refuse('"general.alignment" must be a power of two from 8 to 65536')
}

/** Memory that a token takes: a key and a value for each layer and head, in halves of two bytes. */
function kvBytesOf(values: GgufValues, architecture: string): number | null {
  const of = (name: string) => wholeNumber(values, `${architecture}.${name}`)
  const [layers, heads, embedding] = [
    of('block_count'),
    of('attention.head_count'),
    of('embedding_length'),
  ]
  if (layers === null || heads === null || heads < 1 || embedding === null) return null
  const perHead = Math.floor(embedding / heads)
  const width = (of('attention.key_length') ?? perHead) + (of('attention.value_length') ?? perHead)
  const bytes = layers * (of('attention.head_count_kv') ?? heads) * width * 2
  return Number.isSafeInteger(bytes) && bytes >= 0 ? bytes : null
}

function textOf(values: GgufValues, key: string): string | null {
  const value = values.get(key)
  return value?.kind === 'text' ? value.value.slice(0, 200) : null
}

function read(bytes: Uint8Array, fileBytes: number): ModelHeader {
  const cursor = new GgufCursor(bytes)
  if (cursor.u32() !== magic) refuse('it does not begin as a GGUF file')
  const version = cursor.u32()
  if (version !== 2 && version !== 3) refuse(`it has GGUF version ${version}; 2 and 3 are known`)
  const tensorCount = cursor.u64('the number of tensors')
  const valueCount = cursor.u64('the number of values')
  if (tensorCount < 1 || tensorCount > tensorsMax)
    refuse(`it has ${tensorCount} tensors; 1 to ${tensorsMax} are allowed`)
  if (valueCount > valuesMax)
    refuse(`it has ${valueCount} values; at most ${valuesMax} are allowed`)
  const values = readValues(cursor, valueCount)
  const architecture =
    textOf(values, 'general.architecture') ?? refuse('"general.architecture" is missing')
  if (!/^[a-z0-9][a-z0-9_.-]{0,63}$/.test(architecture))
    refuse(`"general.architecture" is ${quoted(architecture)}, which is no name`)
  const isKnown = isKnownArchitecture(architecture)
  if (isKnown) checkArchitecture(values, architecture)
  const tensors = readTensors(cursor, tensorCount, { alignment: readAlignment(values), fileBytes })
  const of = (name: string) => wholeNumber(values, `${architecture}.${name}`)
  return {
    architecture,
    name: textOf(values, 'general.name'),
    ...tensors,
    context_length: of('context_length'),
    embedding_length: of('embedding_length'),
    layers: of('block_count'),
    kv_bytes_per_token: kvBytesOf(values, architecture),
    fully_checked: isKnown,
  }
}

/**
 * Judges the header of a model before an engine sees the file: the engine aborts on some of what this
 * refuses, and a hash proves bytes, not intent. `bytes` is the beginning of a file of `fileBytes`. Never
 * throws, takes time and memory in proportion to what it was given.
 * @SECURITY gguf-header.test.ts holds it against thousands of damaged headers.
 */
export function readGgufHeader(bytes: Uint8Array, fileBytes: number): GgufReading {
  try {
    return { kind: 'accepted', header: read(bytes.subarray(0, headerBytesMax), fileBytes) }
  } catch (cause) {
    if (cause instanceof HeaderRefused) return { kind: 'refused', reason: cause.message }
    if (!(cause instanceof HeaderIncomplete)) throw cause
    const { atLeast } = cause
    if (atLeast > fileBytes || bytes.length >= fileBytes)
      return { kind: 'refused', reason: 'it ends inside its header' }
    return atLeast > headerBytesMax || bytes.length >= headerBytesMax
      ? { kind: 'refused', reason: `its header has more than ${headerBytesMax} bytes` }
      : { kind: 'incomplete', atLeast }
  }
}
