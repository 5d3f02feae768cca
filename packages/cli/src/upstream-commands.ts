import type { CommandEntry } from './command-entry.ts'

/** MCP servers behind the gate. */
export const upstreamCommands: readonly CommandEntry[] = [
  {
    name: 'upstream add',
    summary: 'Add an MCP server, after showing its tools',
    load: async () => (await import('./commands/upstream-add.ts')).upstreamAdd,
  },
  {
    name: 'upstream list',
    summary: 'List the MCP servers behind the gate',
    load: async () => (await import('./commands/upstream-list.ts')).upstreamList,
  },
  {
    name: 'upstream show',
    summary: 'Show one server: its access, its tools, and how they differ from what was accepted',
    load: async () => (await import('./commands/upstream-show.ts')).upstreamShow,
  },
  {
    name: 'upstream tools',
    summary: 'List the tools of a server, with their state',
    load: async () => (await import('./commands/upstream-tools.ts')).upstreamTools,
  },
  {
    name: 'upstream edit',
    summary: 'Change the credentials of single agents; connections with old ones are closed',
    load: async () => (await import('./commands/upstream-edit.ts')).upstreamEdit,
  },
  {
    name: 'upstream accept',
    summary: 'Accept new or changed tools of a server as they are shown',
    load: async () => (await import('./commands/upstream-accept.ts')).upstreamAccept,
  },
  {
    name: 'upstream decline',
    summary: 'Leave new or changed tools of a server out of service until they change again',
    load: async () => (await import('./commands/upstream-decline.ts')).upstreamDecline,
  },
  {
    name: 'upstream login',
    summary: 'Log in to a server over HTTP with a browser (OAuth), and show its tools',
    load: async () => (await import('./commands/upstream-login.ts')).upstreamLogin,
  },
  {
    name: 'upstream logout',
    summary: 'Delete the tokens of a server, and revoke them where the server supports it',
    load: async () => (await import('./commands/upstream-logout.ts')).upstreamLogout,
  },
  {
    name: 'upstream test',
    summary: 'Connect to a server now and show the result',
    load: async () => (await import('./commands/upstream-test.ts')).upstreamTest,
  },
  {
    name: 'upstream refresh',
    summary: 'Fetch the tools of a server again and compare them with what was accepted',
    load: async () => (await import('./commands/upstream-refresh.ts')).upstreamRefresh,
  },
  {
    name: 'upstream restart',
    summary: 'End the connections and processes of a server; the next call starts it again',
    load: async () => (await import('./commands/upstream-restart.ts')).upstreamRestart,
  },
  {
    name: 'upstream questions',
    summary: 'List the questions that servers ask people while a call waits',
    load: async () => (await import('./commands/upstream-questions.ts')).upstreamQuestions,
  },
  {
    name: 'upstream answer',
    summary: 'Show what a server asks, and answer it',
    load: async () => (await import('./commands/upstream-answer.ts')).upstreamAnswer,
  },
  {
    name: 'upstream tiers',
    summary: 'Suggest policy rules for the tools of a server',
    load: async () => (await import('./commands/upstream-tiers.ts')).upstreamTiers,
  },
  {
    name: 'upstream remove',
    summary: 'Remove a server with its tools, its credentials and its folder',
    load: async () => (await import('./commands/upstream-remove.ts')).upstreamRemove,
  },
]
