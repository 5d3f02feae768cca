import { hash } from 'node:crypto'
import { GatehouseError } from '@gatehouse/contract'
import type { Outbound } from '../ports/outbound.ts'
import type { Credential } from './credential.ts'
import { type EntryTarget, nameOfPart, textOfPart } from './target.ts'

export type S3Settings = {
  readonly url: string
  readonly bucket: string
  readonly prefix: string
  readonly region: string
  readonly accessKeyId: string
}

const timeoutMs = 60_000
const answerBytesMax = 65_536

const codeIn = async (body: AsyncIterable<Uint8Array>): Promise<string> => {
  const pieces: Uint8Array[] = []
  for await (const piece of body) pieces.push(piece)
  return /<Code>(\w{1,64})<\/Code>/.exec(Buffer.concat(pieces).toString('utf8'))?.[1] ?? 'no code'
}

/** S3 and what speaks its protocol, by addresses with the bucket in the path: an object for each part. */
export const s3Target = (
  { url, bucket, prefix, region, accessKeyId }: S3Settings,
  credential: Credential,
  outbound: Pick<Outbound, 'request'>,
): EntryTarget => {
  const request = async (
    method: 'PUT' | 'DELETE',
    key: string,
    text: string | null,
    signal: AbortSignal,
  ): Promise<void> => {
    const { AwsV4Signer } = await import('aws4fetch')
    const signed = await new AwsV4Signer({
      ...{ method, region, accessKeyId, service: 's3' },
      url: `${url}/${bucket}/${prefix}${key}`,
      secretAccessKey: await credential.value(),
      headers: {
        'x-amz-content-sha256': hash('sha256', text ?? ''),
        ...(text === null ? {} : { 'content-type': 'application/x-ndjson' }),
      },
      ...(text === null ? {} : { body: text }),
    }).sign()
    const headers: Record<string, string> = {}
    for (const [name, value] of signed.headers as unknown as Iterable<[string, string]>)
      if (name !== 'host') headers[name] = value
    await using response = await outbound.request(
      {
        ...{ url: signed.url.href, method, headers },
        body: text === null ? null : Buffer.from(text),
        ...{ timeout_ms: timeoutMs, redirects_max: 0, https_only: url.startsWith('https:') },
        body_bytes_max: answerBytesMax,
      },
      signal,
    )
    const { status } = response
    if (status >= 200 && status < 300) return
    if (status === 401 || status === 403) credential.forget()
    const code = await codeIn(response.body)
    throw new GatehouseError('ExportFailed', { detail: `${bucket} answered ${status} (${code})` })
  }
  return {
    takes: 'entries',
    deliver: (part, signal) => request('PUT', nameOfPart(part), textOfPart(part), signal),
    async probe(signal) {
      await request('PUT', 'gatehouse-test.txt', 'Gatehouse can write here.\n', signal)
      await request('DELETE', 'gatehouse-test.txt', null, signal)
    },
  }
}
