import { GatehouseError } from '@gatehouse/contract'
import { z } from 'zod'
import type { CapabilityContext } from '../../ports/capability.ts'
import type { OutboundResponse } from '../../ports/outbound.ts'
import { boundFile } from '../bound-files.ts'
import { defineCapability, smallResult } from '../define.ts'
import { pathArguments } from '../path-argument.ts'
import { headersField, networkErrors, urlField, version } from './fields.ts'

const progressMs = 500

const assertFound = (response: OutboundResponse): void => {
  if (response.status === 200) return
  throw new GatehouseError('ResponseRefused', {
    host: new URL(response.url).host,
    detail: `it answered ${response.status}, so there is nothing to keep`,
  })
}

type Wanted = {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly max_bytes: number
  readonly timeout_seconds: number
}

/** Asks only when the first byte is wanted: before that it is not known whether the file can be written. */
async function* fetched(
  ctx: CapabilityContext,
  { url, headers, max_bytes, timeout_seconds }: Wanted,
  found: (response: OutboundResponse) => void,
): AsyncIterable<Uint8Array> {
  await using response = await ctx.network.request({
    url,
    method: 'GET',
    headers,
    body: null,
    timeout_ms: timeout_seconds * 1000,
    redirects_max: 5,
    https_only: false,
    body_bytes_max: max_bytes,
  })
  assertFound(response)
  found(response)
  const total = Number(response.headers['content-length'] ?? 0) || undefined
  let done = 0
  let toldMs = ctx.clock.now()
  for await (const chunk of response.body) {
    yield chunk
    done += chunk.length
    if (ctx.clock.now() - toldMs < progressMs) continue
    toldMs = ctx.clock.now()
    ctx.progress(done, total, 'bytes downloaded')
  }
  ctx.progress(done, done, 'bytes downloaded')
}

export const download = defineCapability({
  name: 'network.download',
  title: 'Download file',
  version,
  purpose: 'Download a file from the internet into one of your folders.',
  when_to_use:
    'For an answer to read use network.http_request. Give sha256 where you know it: nothing else is kept then.',
  inputs: z.strictObject({
    url: urlField('Where the file is'),
    path: z
      .string()
      .min(1)
      .max(4096)
      .describe('The file to write. Absolute inside your folders, or relative to your workspace.')
      .register(pathArguments, {}),
    overwrite: z.boolean().default(false).describe('Replace an existing file.'),
    create_parents: z.boolean().default(false).describe('Create missing parent folders.'),
    sha256: z
      .string()
      .regex(/^[0-9a-f]{64}$/, 'expected 64 lowercase hexadecimal characters')
      .optional()
      .describe('Kept only with this sha256.'),
    headers: headersField,
    max_bytes: z
      .int()
      .min(1)
      .max(10_737_418_240)
      .default(104_857_600)
      .describe('Larger files are refused; default: 100 MiB.'),
    timeout_seconds: z.int().min(1).max(3600).default(300).describe('For the whole of it.'),
  }),
  outputs: z.object({
    path: z.string(),
    size_bytes: z.int(),
    sha256: z.string(),
    created: z.boolean().describe('Whether there was no file before.'),
    url: z.string().describe('Where it came from, after redirects.'),
    content_type: z.string().nullable(),
  }),
  tier: 'approval_required',
  effect: 'immediate',
  reach: 'open',
  side_effects: [
    { what: 'that the host learns of the request', reversible: false },
    { what: 'a new file', reversible: true },
    { what: 'with overwrite, the old content is not kept', reversible: false },
  ],
  common_patterns: [
    {
      title: 'Download a release and be sure of it',
      arguments: {
        url: 'https://example.org/tool-1.0.tar.gz',
        path: 'downloads/tool-1.0.tar.gz',
        create_parents: true,
        sha256: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
      },
    },
  ],
  errors: [
    ...networkErrors,
    'ResponseTooLarge',
    'DigestMismatch',
    'AlreadyExists',
    'InvalidPath',
    'PathOutOfScope',
    'PathNotPermitted',
    'ProtectedPath',
    'FileNotFound',
    'FolderNotFound',
    'NotADirectory',
    'PermissionRefused',
    'ReadOnlyRoot',
    'IsADirectory',
    'NotARegularFile',
    'TooManyLinks',
    'StorageFull',
    'ApprovalStale',
  ],
  redact: ['headers'],
  timeout_seconds: 3_630,
  result_bytes_max: smallResult,
  preview: ({ url, path, overwrite, sha256, headers, max_bytes }, { files }) => ({
    kind: 'url',
    method: 'GET',
    url,
    text: [
      `Host: ${new URL(url).host}`,
      `Headers: ${Object.keys(headers).join(', ') || 'none'}`,
      `Into: ${files.resolve(path)}${overwrite ? ', replacing what stands there' : ''}`,
      `sha256: ${sha256 ?? 'any'}`,
      `At most: ${max_bytes} bytes`,
    ].join('\n'),
  }),
  resolve: async ({ path }, { files }) => ({ file: await files.fingerprint(path) }),
  async run(ctx, { path, overwrite, create_parents, sha256, ...wanted }) {
    let from = wanted.url
    let content_type: string | null = null
    const chunks = fetched(ctx, wanted, (response) => {
      from = response.url
      content_type = response.headers['content-type'] ?? null
      ctx.note({ url: from })
    })
    const written = await ctx.files.writeStream(path, chunks, {
      createParents: create_parents,
      mustBeNew: !overwrite,
      bound: boundFile(ctx, 'file'),
      ...(sha256 === undefined ? {} : { sha256 }),
    })
    return { ...written, url: from, content_type }
  },
})
