import { pipeline, type Readable } from 'node:stream'
import {
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  type Zlib,
} from 'node:zlib'
import { GatehouseError } from '@gatehouse/contract'

type Decoder = NodeJS.ReadWriteStream & Zlib & Readable

/** `deflate` comes in two forms; the first byte tells which. */
const decoders: Readonly<Record<string, (firstByte: number) => Decoder>> = {
  gzip: () => createGunzip(),
  'x-gzip': () => createGunzip(),
  br: () => createBrotliDecompress(),
  deflate: (firstByte) => ((firstByte & 0x0f) === 8 ? createInflate() : createInflateRaw()),
}

export const acceptedEncodings = 'gzip, br, deflate'

const refuse = (host: string, detail: string, cause?: unknown): never => {
  throw new GatehouseError('ResponseRefused', { host, detail }, { cause })
}

/** The one encoding of an answer, null for none. Several on top of each other multiply: refused. */
export const encodingOf = (header: string | undefined, host: string): string | null => {
  const names = (header ?? '')
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '' && name !== 'identity')
  const [name] = names
  if (name === undefined) return null
  if (names.length > 1) refuse(host, 'it is encoded more than once')
  if (!Object.hasOwn(decoders, name)) refuse(host, 'its encoding is not gzip, br or deflate')
  return name
}

async function* startingWith(first: Buffer, rest: AsyncIterator<Buffer>): AsyncIterable<Buffer> {
  yield first
  for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value
}

/** Decoded as it is read: no more than a few chunks are ahead of the reader, however small the source. */
export async function* decoded(
  source: AsyncIterable<Buffer>,
  encoding: string,
  host: string,
): AsyncIterable<Uint8Array> {
  const chunks = source[Symbol.asyncIterator]()
  let first = await chunks.next()
  while (!first.done && first.value.length === 0) first = await chunks.next()
  if (first.done) return
  const decoder = decoders[encoding]?.(first.value[0] ?? 0)
  if (!decoder) return
  let failure: unknown
  pipeline(startingWith(first.value, chunks), decoder, (cause) => {
    failure = cause
  })
  try {
    for await (const chunk of decoder) yield chunk as Buffer
  } catch (cause) {
    const code = ((failure ?? cause) as { code?: unknown }).code
    if (typeof code === 'string' && /^(Z_|ERR_.*BROTLI|ERR__ERROR_FORMAT|ERR_PADDING)/.test(code))
      refuse(host, 'it is not what its content-encoding says', cause)
    throw failure ?? cause
  } finally {
    decoder.destroy()
  }
}
