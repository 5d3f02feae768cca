import { inviteText } from '@gatehouse/contract/node-invite'
import { defineCommand } from '../define.ts'

export const nodesInvite = defineCommand({
  name: 'nodes invite',
  summary: 'Print a one-time token that lets another node join this installation',
  options: {
    url: { value: 'URL', about: 'where the other node reaches this dashboard' },
  },
  examples: [
    'gatehouse nodes invite > token',
    'gatehouse nodes invite --url https://one.example:7800 > token',
  ],
  async run({ api, server, note }, { url }) {
    const { dashboard_url } = await server()
    const { expires_at, ...invite } = await api.inviteNode({ url: url ?? dashboard_url })
    await note(
      `The token ends when it is used, and at ${expires_at}. Whoever has it gets the keys of this installation.`,
    )
    return { token: inviteText(invite), url: invite.url, expires_at }
  },
  text: ({ token }) => token,
})
