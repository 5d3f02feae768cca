import type { CommandEntry } from './command-entry.ts'

/** Preparing the machine. */
export const setupCommands: readonly CommandEntry[] = [
  {
    name: 'setup service',
    summary: 'Keep the server running with systemd: show the unit, then write and start it',
    load: async () => (await import('./commands/setup-service.ts')).setupService,
  },
  {
    name: 'setup sandbox',
    summary: 'Test the sandbox for programs, and say what to install or allow',
    load: async () => (await import('./commands/setup-sandbox.ts')).setupSandbox,
  },
]
