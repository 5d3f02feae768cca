import { z } from 'zod'
import { defineCapability } from '../define.ts'
import { exchange, exchangeText, requestPreview } from './exchange.ts'
import { networkErrors, requestInputs, requestOutputs, version } from './fields.ts'

export const httpRequest = defineCapability({
  name: 'network.http_request',
  title: 'Send HTTP request',
  version,
  purpose: 'Send an HTTP request to the internet and read the answer.',
  when_to_use:
    'With a secret use network.credentialed_request, for files network.download. Addresses inside the operator’s network are reached only where the operator listed them.',
  inputs: z.strictObject(requestInputs),
  outputs: requestOutputs,
  tier: 'approval_required',
  effect: 'immediate',
  reach: 'open',
  side_effects: [
    {
      what: 'whatever the host does with the request, and that it learns of it',
      reversible: false,
    },
  ],
  common_patterns: [
    { title: 'Read a page', arguments: { url: 'https://example.org/' } },
    {
      title: 'Send JSON',
      arguments: { url: 'https://api.example.org/items', method: 'POST', body: { name: 'a' } },
    },
  ],
  errors: networkErrors,
  redact: ['headers'],
  timeout_seconds: 130,
  text: exchangeText,
  result_bytes: ({ max_bytes }) => 2 * max_bytes + 64 * 1024,
  preview: (inputs) => requestPreview(inputs),
  run: (ctx, inputs) => exchange(ctx, inputs),
})
