import type { CommandEntry } from './command-entry.ts'

/** Servers that share a store. */
export const nodeCommands: readonly CommandEntry[] = [
  {
    name: 'nodes list',
    summary: 'List the nodes of this installation and what they run',
    load: async () => (await import('./commands/nodes-list.ts')).nodesList,
  },
  {
    name: 'nodes invite',
    summary: 'Print a one-time token with which another node joins this installation',
    load: async () => (await import('./commands/nodes-invite.ts')).nodesInvite,
  },
  {
    name: 'join',
    summary: 'Make an empty data directory a node, with the keys of one that serves',
    load: async () => (await import('./commands/join.ts')).join,
  },
  {
    name: 'migrate',
    summary: 'Move the data to PostgreSQL or back to SQLite, while no server runs',
    load: async () => (await import('./commands/migrate.ts')).migrate,
  },
  {
    name: 'nodes drain',
    summary: 'Let a node finish what it does and take nothing new',
    load: async () => (await import('./commands/nodes-drain.ts')).nodesDrain,
  },
  {
    name: 'nodes resume',
    summary: 'Let a node that is draining take work again',
    load: async () => (await import('./commands/nodes-resume.ts')).nodesResume,
  },
  {
    name: 'nodes forget',
    summary: 'Forget a node that has stopped or will not come back',
    load: async () => (await import('./commands/nodes-forget.ts')).nodesForget,
  },
]
