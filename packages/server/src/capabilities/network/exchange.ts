import { isUtf8 } from 'node:buffer'
import { createHash } from 'node:crypto'
import { GatehouseError, type Preview } from '@gatehouse/contract'
import type { z } from 'zod'
import type { CapabilityContext } from '../../ports/capability.ts'
import type { OutboundRequest, OutboundResponse } from '../../ports/outbound.ts'
import type { requestInputs, requestOutputs } from './fields.ts'

type Inputs = Readonly<z.output<z.ZodObject<typeof requestInputs>>>
type Output = z.output<typeof requestOutputs>
type Body = Pick<Inputs, 'body' | 'body_encoding' | 'method'>

const refuse = (detail: string): never => {
  throw new GatehouseError('RequestNotAllowed', { detail })
}

const isBase64 = (text: string): boolean =>
  text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text)

/** The bytes to send; null for none. */
export const bodyBytes = ({ body, body_encoding, method }: Body): Buffer | null => {
  if (body === undefined) return null
  if (method === 'GET' || method === 'HEAD') refuse(`${method} takes no body; leave it out`)
  if (typeof body !== 'string') return Buffer.from(JSON.stringify(body))
  if (body_encoding === 'base64' && !isBase64(body)) refuse('the body is not padded base64')
  if (!body.isWellFormed()) refuse('the body has half a character')
  return Buffer.from(body, body_encoding === 'base64' ? 'base64' : 'utf8')
}

const hasHeader = (headers: Inputs['headers'], name: string): boolean =>
  Object.keys(headers).some((given) => given.toLowerCase() === name)

const headersOf = ({ headers, body }: Inputs): Record<string, string> => ({
  ...(typeof body === 'object' && !hasHeader(headers, 'content-type')
    ? { 'content-type': 'application/json' }
    : {}),
  ...headers,
})

export const requestOf = (inputs: Inputs): Omit<OutboundRequest, 'allows'> => ({
  url: inputs.url,
  method: inputs.method,
  headers: headersOf(inputs),
  body: bodyBytes(inputs),
  timeout_ms: inputs.timeout_seconds * 1000,
  redirects_max: inputs.follow_redirects ? 5 : 0,
  https_only: false,
})

const charsetOf = (contentType: string | undefined): string =>
  /;\s*charset="?([\w.:-]{1,40})"?/i.exec(contentType ?? '')?.[1]?.toLowerCase() ?? 'utf-8'

/** Without the beginning of a character that the cut left at the end. */
const wholeEnd = (bytes: Buffer): Buffer => {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0
    if ((byte & 0xc0) === 0x80) continue
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1
    return length > back ? bytes.subarray(0, bytes.length - back) : bytes
  }
  return bytes
}

/** As text where it is one, otherwise as base64. */
const textOf = (
  all: Buffer,
  contentType: string | undefined,
  truncated: boolean,
): Pick<Output, 'body' | 'encoding'> => {
  const charset = charsetOf(contentType)
  const bytes = truncated && charset === 'utf-8' ? wholeEnd(all) : all
  if (isUtf8(bytes) && !bytes.includes(0))
    return { body: bytes.toString('utf8'), encoding: 'utf-8' }
  if (charset !== 'utf-8') {
    try {
      const body = new TextDecoder(charset, { fatal: true }).decode(bytes)
      if (!body.includes('\0')) return { body, encoding: 'utf-8' }
    } catch {
      // Not a charset that is known, or not what it says.
    }
  }
  return { body: bytes.toString('base64'), encoding: 'base64' }
}

const readUpTo = async (
  response: OutboundResponse,
  bytesMax: number,
): Promise<{ readonly bytes: Buffer; readonly truncated: boolean }> => {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body) {
    chunks.push(chunk)
    size += chunk.length
    if (size > bytesMax) break
  }
  const bytes = Buffer.concat(chunks)
  return { bytes: bytes.subarray(0, bytesMax), truncated: bytes.length > bytesMax }
}

/** Sends a request, and tells its answer as far as it was asked for. */
export const exchange = async (
  ctx: CapabilityContext,
  inputs: Inputs,
  change: Partial<OutboundRequest> = {},
): Promise<Output> => {
  const beganMs = ctx.clock.now()
  await using response = await ctx.network.request({ ...requestOf(inputs), ...change })
  const { bytes, truncated } = await readUpTo(response, inputs.max_bytes)
  ctx.note({ status_code: response.status, url: response.url })
  const { status, headers, url } = response
  return {
    status_code: status,
    headers: { ...headers },
    ...textOf(bytes, headers['content-type'], truncated),
    size_bytes: bytes.length,
    url,
    duration_ms: Math.round(ctx.clock.now() - beganMs),
    truncated,
  }
}

const shownBytesMax = 16 * 1024

const shownBody = (bytes: Buffer | null): readonly string[] => {
  if (bytes === null) return ['Body: none']
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  const line = `Body: ${bytes.length} bytes, sha256 ${sha256}`
  const isShown = bytes.length <= shownBytesMax && isUtf8(bytes) && !bytes.includes(0)
  return isShown ? [line, '', bytes.toString('utf8')] : [line]
}

/** Request and target, as they were read and not as they were written. */
export const requestPreview = (inputs: Inputs, more: readonly string[] = []): Preview => {
  const url = new URL(inputs.url)
  const names = Object.keys(headersOf(inputs))
  return {
    kind: 'url',
    method: inputs.method,
    url: url.href,
    text: [
      `Host: ${url.host}`,
      `Path: ${url.pathname}${url.search}`,
      `Headers: ${names.length === 0 ? 'none' : names.join(', ')}`,
      ...more,
      `Redirects: ${inputs.follow_redirects ? 'followed where policy lets it' : 'not followed'}`,
      ...shownBody(bodyBytes(inputs)),
    ].join('\n'),
  }
}

export const exchangeText = ({ status_code, url, body, encoding, truncated }: Output): string =>
  `HTTP ${status_code} ${url}${encoding === 'base64' ? ' (body as base64)' : ''}${
    truncated ? ' (cut)' : ''
  }\n\n${body}`
