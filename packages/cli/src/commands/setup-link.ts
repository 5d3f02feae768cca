import { setupUrl } from '@gatehouse/contract/setup-url'
import { defineCommand } from '../define.ts'

export const setupLink = defineCommand({
  name: 'setup-link',
  summary: 'Print a new one-time link to create the first operator of the dashboard',
  examples: ['gatehouse setup-link', 'gatehouse setup-link --json'],
  async run({ api, server }) {
    const { public_url, dashboard_url } = await server()
    const { token, expires_at } = await api.createSetupLink()
    return { url: setupUrl(public_url ?? dashboard_url, token), expires_at, public_url }
  },
  text: ({ url, public_url }, { next }) =>
    [
      'This link makes the first operator, once, within 30 minutes. The one before it has ended.',
      '',
      `  ${url}`,
      // A proxy in front has a certificate of its own.
      ...(public_url === undefined
        ? ['', `Your browser warns of the certificate until it is trusted: ${next('trust')}`]
        : []),
    ].join('\n'),
})
