import type { CommandEntry } from './command-entry.ts'

/** People who log in at the dashboard. */
export const operatorCommands: readonly CommandEntry[] = [
  {
    name: 'setup-link',
    summary: 'Print a new one-time link to create the first operator of the dashboard',
    load: async () => (await import('./commands/setup-link.ts')).setupLink,
  },
  {
    name: 'operator set-password',
    summary: 'Set the password of a person at the dashboard, creating the login if needed',
    load: async () => (await import('./commands/operator-set-password.ts')).operatorSetPassword,
  },
  {
    name: 'operator list',
    summary: 'List the operators who can log in to the dashboard',
    load: async () => (await import('./commands/operator-list.ts')).operatorList,
  },
  {
    name: 'operator remove',
    summary: 'Remove an operator of the dashboard',
    load: async () => (await import('./commands/operator-remove.ts')).operatorRemove,
  },
  {
    name: 'operator logins',
    summary: 'List the active logins of the dashboard',
    load: async () => (await import('./commands/operator-logins.ts')).operatorLogins,
  },
  {
    name: 'operator end-login',
    summary: 'End one login of the dashboard now',
    load: async () => (await import('./commands/operator-end-login.ts')).operatorEndLogin,
  },
]
