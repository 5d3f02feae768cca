import { setupUrl } from '@gatehouse/contract/setup-url'
import { defineCommand } from '../define.ts'

export const setupLink = defineCommand({
  name: 'setup-link',
  summary: 'Print a new one-time link to create the first operator of the dashboard',
  examples: ['gatehouse setup-link', 'gatehouse setup-link --json'],
  async run({ api, server }) {
    const { dashboard_url } = await server()
    const { token, expires_at } = await api.createSetupLink()
    return { url: setupUrl(dashboard_url, token), expires_at }
  },
  text: ({ url }, { next }) =>
    [
      'This link makes the first operator, once, within 30 minutes. The one before it has ended.',
      '',
      `  ${url}`,
      '',
      `Your browser warns of the certificate until it is trusted: ${next('trust')}`,
    ].join('\n'),
})
