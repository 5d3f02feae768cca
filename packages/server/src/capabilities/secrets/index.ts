import { SecretName } from '@gatehouse/contract'
import { z } from 'zod'
import { defineCapability } from '../define.ts'
import { previewOrNote, textPreview } from '../text-preview.ts'

const version = '1.0'
const tier = 'autonomous'

const list = defineCapability({
  name: 'secrets.list',
  title: 'List usable secrets',
  version,
  purpose: 'List the secrets you may use, without their values.',
  when_to_use:
    'Call it before a call that takes the name of a secret. The service adds the value where the call leaves; no call shows it.',
  inputs: z.strictObject({}),
  outputs: z.object({
    secrets: z.array(
      z.object({
        name: z.string(),
        description: z.string(),
        capabilities: z.array(z.string()),
        hosts: z.array(z.string()),
      }),
    ),
    total: z.int(),
  }),
  tier,
  effect: 'none',
  common_patterns: [{ title: 'Which secrets may I use?', arguments: {} }],
  errors: [],
  async run(ctx) {
    const secrets = await ctx.secrets.list()
    return {
      secrets: secrets.map(({ capabilities, hosts, ...rest }) => ({
        ...rest,
        capabilities: [...capabilities],
        hosts: [...hosts],
      })),
      total: secrets.length,
    }
  },
})

const requestRotation = defineCapability({
  name: 'secrets.request_rotation',
  title: 'Request secret rotation',
  destructive: false,
  version,
  purpose: 'Ask the operators to replace a secret.',
  when_to_use:
    'For one that a service refuses, or that may have become known. The name stays the same.',
  inputs: z.strictObject({
    secret_name: SecretName.describe('A name that secrets.list shows'),
    reason: z.string().min(1).max(1000).describe('Event, in a sentence'),
  }),
  outputs: z.object({ secret_name: z.string(), alert_id: z.string() }),
  tier,
  notify: true,
  effect: 'immediate',
  side_effects: [{ what: 'An alert that people read', reversible: false }],
  common_patterns: [
    {
      title: 'After a refusal',
      arguments: { secret_name: 'github_token', reason: 'GitHub answers 401 since this morning.' },
    },
  ],
  errors: ['SecretNotAllowed', 'QuotaExceeded'],
  preview: ({ secret_name, reason }, { secrets }) =>
    previewOrNote(`Ask the operators to replace the secret ${secret_name}: ${reason}`, async () => {
      const found = (await secrets.list()).find(({ name }) => name === secret_name)
      return textPreview(
        `Alert the operators that the secret ${secret_name} needs a new value:`,
        reason,
        found
          ? `It is used by ${found.capabilities.join(', ')} for ${found.hosts.join(', ') || 'no host'}.`
          : 'This agent may not use a secret of that name, so the call is refused.',
      )
    }),
  run: (ctx, { secret_name, reason }) => ctx.secrets.requestRotation(secret_name, reason),
})

export const secretCapabilities = [list, requestRotation]
