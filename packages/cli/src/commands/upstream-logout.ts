import { defineCommand } from '../define.ts'

export const upstreamLogout = defineCommand({
  name: 'upstream logout',
  summary: 'Delete the tokens of a server, and revoke them where the server supports it',
  args: { name: 'the server' },
  options: { as: { value: 'AGENT', about: 'those of this agent alone' } },
  examples: ['gatehouse upstream logout tickets', 'gatehouse upstream logout tickets --as coder'],
  async run({ api }, { name, as: agent }) {
    const review = await api.logoutUpstream({ name, ...(agent === undefined ? {} : { agent }) })
    return { agent: agent ?? null, ...review }
  },
  text: ({ agent, upstream: { name, own_only, status, agent_logins } }, { next }) => {
    // Where agents have logins of their own, its status says nothing of the common one.
    const isLoggedOut = status === 'needs_login' || Object.keys(agent_logins).length > 0
    if (agent === null && !isLoggedOut) return `${name} needs no login, and has none.`
    const again = next(`upstream login ${name}${agent === null ? '' : ` --as ${agent}`}`)
    if (agent === null) return `The tokens of ${name} are deleted. To use it again: ${again}`
    const now = own_only ? 'It is refused' : 'It is let in with what agents share'
    return `The tokens of ${agent} at ${name} are deleted. ${now} until there is another login: ${again}`
  },
})
