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
    summary: 'Print a one-time token that lets another node join this installation',
    load: async () => (await import('./commands/nodes-invite.ts')).nodesInvite,
  },
  {
    name: 'join',
    summary: 'Join an installation as a new node, with an empty data directory',
    load: async () => (await import('./commands/join.ts')).join,
  },
  {
    name: 'migrate',
    summary: 'Move the data to PostgreSQL or back to SQLite, while no server runs',
    load: async () => (await import('./commands/migrate.ts')).migrate,
  },
  {
    name: 'nodes drain',
    summary: 'Let a node finish its work and take no new work',
    load: async () => (await import('./commands/nodes-drain.ts')).nodesDrain,
  },
  {
    name: 'nodes resume',
    summary: 'Let a node that is draining take work again',
    load: async () => (await import('./commands/nodes-resume.ts')).nodesResume,
  },
  {
    name: 'nodes forget',
    summary: 'Remove a node that has stopped for good',
    load: async () => (await import('./commands/nodes-forget.ts')).nodesForget,
  },
]
