import { type ErrorType, GatehouseError } from '@gatehouse/contract'
import { z } from 'zod'
import { parseHost, parseUrl } from '../../domain/web-address.ts'

export const version = '1.0'

const parsed =
  <T>(parse: (text: string) => T) =>
  (text: string, ctx: z.RefinementCtx): T => {
    try {
      return parse(text)
    } catch (cause) {
      const message = cause instanceof GatehouseError ? String(cause.facts['detail']) : 'not usable'
      ctx.addIssue({ code: 'custom', message })
      return z.NEVER
    }
  }

/** Read once, and from then on one text for policy, approver, log and connection. */
export const urlField = (what: string) =>
  z
    .string()
    .min(1)
    .max(8192)
    .transform(parsed((text) => parseUrl(text).href))
    .describe(`${what}, such as https://example.org/path. Without a name or password in it.`)

export const hostField = (what: string) =>
  z
    .string()
    .min(1)
    .max(253)
    .transform(parsed(parseHost))
    .describe(`${what}: a name or an address, without a port.`)

export const methodField = z
  .enum(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
  .default('GET')

export const headersField = z
  .record(z.string().min(1).max(128), z.string().max(16_384))
  .default({})
  .describe('Headers by name. Host, length and what speaks of the connection are set for you.')

export const bodyField = z
  .union([
    z.string().max(5_242_880),
    z.record(z.string(), z.unknown()),
    z.array(z.unknown()).max(100_000),
  ])
  .optional()
  .describe('A text is sent as it is, an object or array as JSON.')

export const bodyEncodingField = z
  .enum(['utf-8', 'base64'])
  .default('utf-8')
  .describe('base64 for bytes.')

export const maxBytesDefault = 1_048_576
export const maxBytesCeiling = 5_242_880

export const requestInputs = {
  url: urlField('The address'),
  method: methodField,
  headers: headersField,
  body: bodyField,
  body_encoding: bodyEncodingField,
  timeout_seconds: z
    .int()
    .min(1)
    .max(120)
    .default(30)
    .describe('For everything, including redirects.'),
  follow_redirects: z
    .boolean()
    .default(true)
    .describe('Follow up to 5. Another host gets neither body nor credentials.'),
  max_bytes: z
    .int()
    .min(0)
    .max(maxBytesCeiling)
    .default(maxBytesDefault)
    .describe('Longest body to return. The rest is cut off.'),
}

export const requestOutputs = z.object({
  status_code: z.int().describe('Any status is a success of the call, also 404.'),
  headers: z.record(z.string(), z.string()).describe('Names in lower case.'),
  body: z.string(),
  encoding: z.enum(['utf-8', 'base64']).describe('How body is given here.'),
  size_bytes: z.int().describe('Of the body that is returned.'),
  url: z.string().describe('Where the answer came from, after redirects.'),
  duration_ms: z.int(),
  truncated: z.boolean(),
})

/** Errors of any request. */
export const networkErrors = [
  'UrlNotAllowed',
  'RequestNotAllowed',
  'HostUnreachable',
  'TlsFailed',
  'RedirectRefused',
  'ResponseRefused',
  'TimedOut',
] as const satisfies readonly ErrorType[]
