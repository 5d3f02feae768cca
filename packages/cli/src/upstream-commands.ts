import type { CommandEntry } from './command-entry.ts'

/** MCP servers behind the gate. */
export const upstreamCommands: readonly CommandEntry[] = [
  {
    name: 'upstream add',
    summary: 'Put an MCP server behind the gate, once its tools were seen',
    load: async () => (await import('./commands/upstream-add.ts')).upstreamAdd,
  },
  {
    name: 'upstream list',
    summary: 'List the MCP servers behind the gate',
    load: async () => (await import('./commands/upstream-list.ts')).upstreamList,
  },
  {
    name: 'upstream show',
    summary:
      'Show one server: what it may use, its tools, and how they differ from what was accepted',
    load: async () => (await import('./commands/upstream-show.ts')).upstreamShow,
  },
  {
    name: 'upstream tools',
    summary: 'List the tools of a server, with their state',
    load: async () => (await import('./commands/upstream-tools.ts')).upstreamTools,
  },
  {
    name: 'upstream edit',
    summary: 'Change what single agents are let in with; what runs with the old secrets ends',
    load: async () => (await import('./commands/upstream-edit.ts')).upstreamEdit,
  },
  {
    name: 'upstream accept',
    summary: 'Accept the tools of a server that wait, as they are shown',
    load: async () => (await import('./commands/upstream-accept.ts')).upstreamAccept,
  },
  {
    name: 'upstream login',
    summary: 'Log in to a server over HTTP with a browser (OAuth), and show its tools',
    load: async () => (await import('./commands/upstream-login.ts')).upstreamLogin,
  },
  {
    name: 'upstream logout',
    summary: 'Delete the tokens of a server, and have them revoked where it can be done',
    load: async () => (await import('./commands/upstream-logout.ts')).upstreamLogout,
  },
  {
    name: 'upstream test',
    summary: 'Connect to a server now, and say what came of it',
    load: async () => (await import('./commands/upstream-test.ts')).upstreamTest,
  },
  {
    name: 'upstream refresh',
    summary: 'Ask a server for its tools anew, and compare them with what was accepted',
    load: async () => (await import('./commands/upstream-refresh.ts')).upstreamRefresh,
  },
  {
    name: 'upstream restart',
    summary: 'End the connections and processes of a server; the next call starts it again',
    load: async () => (await import('./commands/upstream-restart.ts')).upstreamRestart,
  },
  {
    name: 'upstream questions',
    summary: 'Show what servers ask people, while a call waits for the answer',
    load: async () => (await import('./commands/upstream-questions.ts')).upstreamQuestions,
  },
  {
    name: 'upstream answer',
    summary: 'Show what a server asks, and answer it',
    load: async () => (await import('./commands/upstream-answer.ts')).upstreamAnswer,
  },
  {
    name: 'upstream tiers',
    summary: 'Write rules for the tools of a server, for a person to read and change',
    load: async () => (await import('./commands/upstream-tiers.ts')).upstreamTiers,
  },
  {
    name: 'upstream remove',
    summary: 'Remove a server with its tools, its credentials and its folder',
    load: async () => (await import('./commands/upstream-remove.ts')).upstreamRemove,
  },
]
