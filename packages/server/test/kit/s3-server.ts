import { createHmac, hash, timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

type SignedRequest = {
  readonly method: string
  /** Path and query as they stand on the wire. */
  readonly target: string
  readonly headers: Readonly<Record<string, string | undefined>>
}

const byCode = ([a]: readonly string[], [b]: readonly string[]): number =>
  (a ?? '') < (b ?? '') ? -1 : 1

const queryOf = (query: string): string =>
  query
    .split('&')
    .filter((pair) => pair !== '')
    .map((pair) => [pair.split('=')[0] ?? '', pair.split('=').slice(1).join('=')] as const)
    .toSorted(byCode)
    .map((pair) => pair.join('='))
    .join('&')

/** Every character but those that RFC 3986 has nothing against, however it came. */
const encoded = (path: string): string =>
  path
    .split('/')
    .map((part) =>
      encodeURIComponent(decodeURIComponent(part)).replaceAll(
        /[!'()*]/g,
        (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
      ),
    )
    .join('/')

/** Signature of a request to S3, by "Authenticating Requests: Using the Authorization Header" of its API reference. */
export const signatureOf = (
  { method, target, headers }: SignedRequest,
  { secret, scope, names }: { secret: string; scope: string; names: string },
): string => {
  const [path = '', query = ''] = target.split('?')
  const signed = names.split(';').map((name) => `${name}:${headers[name]?.trim()}\n`)
  const payload = headers['x-amz-content-sha256'] ?? ''
  const canonical = [method, encoded(path), queryOf(query), signed.join(''), names, payload].join(
    '\n',
  )
  const time = headers['x-amz-date'] ?? ''
  const text = ['AWS4-HMAC-SHA256', time, scope, hash('sha256', canonical)].join('\n')
  const mac = (key: string | Buffer, value: string) =>
    createHmac('sha256', key).update(value).digest()
  const key = scope.split('/').reduce<string | Buffer>(mac, `AWS4${secret}`)
  return mac(key, text).toString('hex')
}

const authorization =
  /^AWS4-HMAC-SHA256 Credential=([^/,]+)\/([^,]+), ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/
/** Headers that a request must have signed. */
const mustSign = ['host', 'x-amz-content-sha256', 'x-amz-date']
const skewMs = 900_000

const timeOf = (stamp: string): number =>
  Date.parse(stamp.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'))

/** Why a request is refused, by the name that S3 has for it; null for one whose signature is right. */
const refusalOf = (
  request: SignedRequest,
  body: Buffer,
  { region, keys }: { region: string; keys: ReadonlyMap<string, string> },
): string | null => {
  const [, id = '', scope = '', names = '', given = ''] =
    authorization.exec(request.headers['authorization'] ?? '') ?? []
  const secret = keys.get(id)
  const time = request.headers['x-amz-date'] ?? ''
  if (given === '') return 'AccessDenied'
  if (secret === undefined) return 'InvalidAccessKeyId'
  if (scope !== `${time.slice(0, 8)}/${region}/s3/aws4_request`)
    return 'AuthorizationHeaderMalformed'
  if (mustSign.some((name) => !names.split(';').includes(name))) return 'AccessDenied'
  if (!(Math.abs(Date.now() - timeOf(time)) < skewMs)) return 'RequestTimeTooSkewed'
  if (request.headers['x-amz-content-sha256'] !== hash('sha256', body))
    return 'XAmzContentSHA256Mismatch'
  const expected = signatureOf(request, { secret, scope, names })
  return timingSafeEqual(Buffer.from(given), Buffer.from(expected)) ? null : 'SignatureDoesNotMatch'
}

const readBody = async (request: IncomingMessage): Promise<Buffer> => {
  const pieces: Buffer[] = []
  for await (const piece of request) pieces.push(piece as Buffer)
  return Buffer.concat(pieces)
}

export type S3Server = AsyncDisposable & {
  readonly port: number
  /** Objects by path: `/bucket/key`. */
  readonly objects: ReadonlyMap<string, string>
}

/** Storage that takes and deletes objects as S3 does, and checks the signature of every request as it arrived. */
export const openS3Server = async (settings: {
  readonly region: string
  readonly keys: ReadonlyMap<string, string>
}): Promise<S3Server> => {
  const objects = new Map<string, string>()
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await readBody(request)
    const [method, target] = [request.method ?? '', request.url ?? '']
    const headers = request.headers as Readonly<Record<string, string | undefined>>
    const refusal = refusalOf({ method, target, headers }, body, settings)
    if (refusal !== null) {
      response.writeHead(403, { 'content-type': 'application/xml' })
      response.end(`<?xml version="1.0"?><Error><Code>${refusal}</Code></Error>`)
      return
    }
    if (method === 'PUT') objects.set(target, body.toString('utf8'))
    if (method === 'DELETE') objects.delete(target)
    response.writeHead(method === 'DELETE' ? 204 : 200).end()
  }
  const server = createServer((request, response) => void answer(request, response)).listen(
    ...([0, '127.0.0.1'] as const),
  )
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    objects,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}
