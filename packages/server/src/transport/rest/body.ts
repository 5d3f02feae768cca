import { GatehouseError } from '@gatehouse/contract'
import { MemoryBudget } from '../../app/call/memory-budget.ts'
import { heldBytesFor } from '../http/held-bytes.ts'
import { defaultGatewayLimits } from '../http/limits.ts'
import { parseJson } from '../http/parse-json.ts'

export const bodyBytesMax = 2 * 1024 * 1024

/** Memory for the bodies of people's requests, over all listeners. */
const memory = new MemoryBudget(heldBytesFor())

const isJson = (contentType: string | null): boolean =>
  contentType !== null && /^application\/json\s*(;|$)/i.test(contentType)

/** Reads at most `bytesMax` and stops at the first byte more: what is too long is never looked at. */
async function readBytes(request: Request, bytesMax: number): Promise<Buffer> {
  if (!request.body) return Buffer.alloc(0)
  const chunks: Uint8Array[] = []
  let length = 0
  // Leaving the loop by a throw cancels the stream.
  for await (const chunk of request.body) {
    length += chunk.byteLength
    if (length > bytesMax) throw new GatehouseError('BodyTooLarge', { limit_bytes: bytesMax })
    chunks.push(chunk)
  }
  return Buffer.concat(chunks, length)
}

/** The JSON document of a request; `undefined` where it has no body. */
export async function readJsonBody(request: Request, bytesMax = bodyBytesMax): Promise<unknown> {
  const encoding = request.headers.get('content-encoding')
  if (encoding !== null && encoding.toLowerCase() !== 'identity')
    throw new GatehouseError('UnsupportedMediaType', { detail: `content-encoding ${encoding}` })
  const type = request.headers.get('content-type')
  // A type that is named and wrong is refused before anything is read.
  if (type !== null && !isJson(type))
    throw new GatehouseError('UnsupportedMediaType', { detail: 'send application/json' })
  const declared = Number(request.headers.get('content-length') ?? 0)
  if (declared > bytesMax) throw new GatehouseError('BodyTooLarge', { limit_bytes: bytesMax })
  const held = memory.take('people', request.body ? declared || bytesMax : 0)
  if (!held) throw new GatehouseError('Overloaded', { detail: 'large requests are being read' })
  try {
    const bytes = await readBytes(request, bytesMax)
    if (bytes.byteLength === 0) return undefined
    if (type === null)
      throw new GatehouseError('UnsupportedMediaType', { detail: 'send application/json' })
    return parseJson(bytes, defaultGatewayLimits)
  } finally {
    held.release()
  }
}
