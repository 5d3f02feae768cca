import { GatehouseError, SecretName } from '@gatehouse/contract'
import { z } from 'zod'
import type { OutboundRequest } from '../../ports/outbound.ts'
import { defineCapability } from '../define.ts'
import { exchange, exchangeText, requestPreview } from './exchange.ts'
import { networkErrors, requestInputs, requestOutputs, version } from './fields.ts'

const placementField = z
  .string()
  .max(140)
  .regex(
    /^(?:bearer|basic|header:[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,128}|query:[A-Za-z0-9_.~[\]-]{1,128})$/,
    'expected bearer, basic, header:<Name> or query:<name>',
  )
  .default('bearer')
  .describe(
    'Where the secret goes: bearer, basic (for name:password), header:<Name> or query:<name>.',
  )

type Attached = Pick<OutboundRequest, 'credentials' | 'credential_query'>

/** For the origin of the request and no other, whatever redirects say. */
const attach = (placement: string, value: string, origin: string): Attached => {
  const [kind, name = ''] = placement.split(/:(.*)/s)
  const only = (entries: Record<string, string>) => (url: URL) =>
    url.origin === origin ? entries : {}
  switch (kind) {
    case 'bearer':
      return { credentials: only({ authorization: `Bearer ${value}` }) }
    case 'basic': {
      const encoded = Buffer.from(value).toString('base64')
      return { credentials: only({ authorization: `Basic ${encoded}` }) }
    }
    case 'header':
      return { credentials: only({ [name.toLowerCase()]: value }) }
    default:
      return { credential_query: only({ [name]: value }) }
  }
}

const assertHttps = (url: URL): void => {
  if (url.protocol === 'https:') return
  throw new GatehouseError('UrlNotAllowed', {
    detail: 'a secret is sent by https only, so it must begin with https://',
  })
}

export const credentialedRequest = defineCapability({
  name: 'network.credentialed_request',
  title: 'Send HTTP request with secret',
  version,
  purpose: 'Send an HTTPS request with a secret that the service adds and you never see.',
  when_to_use:
    'secrets.list names the secrets and the hosts they may go to. The value goes to the host of url alone, never on by a redirect, and is removed from what returns.',
  inputs: z.strictObject({
    ...requestInputs,
    secret_name: SecretName.describe('A name that secrets.list shows'),
    placement: placementField,
  }),
  outputs: requestOutputs,
  tier: 'approval_required',
  effect: 'immediate',
  reach: 'open',
  side_effects: [{ what: 'whatever the host lets the holder of the secret do', reversible: false }],
  common_patterns: [
    {
      title: 'Use a token',
      arguments: { url: 'https://api.example.org/me', secret_name: 'example_token' },
    },
    {
      title: 'Use a key in a header of its own',
      arguments: {
        url: 'https://api.example.org/items',
        secret_name: 'example_key',
        placement: 'header:X-Api-Key',
      },
    },
  ],
  errors: [...networkErrors, 'SecretNotAllowed', 'VaultLocked', 'VaultTampered'],
  redact: ['headers'],
  timeout_seconds: 130,
  text: exchangeText,
  result_bytes: ({ max_bytes }) => 2 * max_bytes + 64 * 1024,
  preview: (inputs) =>
    requestPreview(inputs, [`Secret: ${inputs.secret_name}, as ${inputs.placement}`]),
  async run(ctx, inputs) {
    const url = new URL(inputs.url)
    assertHttps(url)
    const { secret_name, placement } = inputs
    return ctx.secrets.use(secret_name, url.host, (value) =>
      exchange(ctx, inputs, { https_only: true, ...attach(placement, value, url.origin) }),
    )
  },
})
