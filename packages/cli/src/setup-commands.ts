import type { CommandEntry } from './command-entry.ts'

/** Preparing the machine. */
export const setupCommands: readonly CommandEntry[] = [
  {
    name: 'setup service',
    summary: 'Run the server as a systemd service: show the unit, then install and start it',
    load: async () => (await import('./commands/setup-service.ts')).setupService,
  },
  {
    name: 'setup sandbox',
    summary: 'Test the sandbox for programs and show what to install or allow',
    load: async () => (await import('./commands/setup-sandbox.ts')).setupSandbox,
  },
]
