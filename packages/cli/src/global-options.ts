import type { OptionSpec } from './define.ts'

/** Understood by every command. */
export const globalOptions = {
  'data-dir': { value: 'DIR', about: 'the data directory (GATEHOUSE_DATA_DIR)' },
  config: { value: 'FILE', about: 'the configuration file (GATEHOUSE_CONFIG)' },
  json: { about: 'print JSON' },
  quiet: { about: 'print only data and errors' },
  'no-color': { about: 'print without colour (NO_COLOR)' },
  yes: { about: 'do not ask for confirmation' },
  help: { about: 'show this help' },
} as const satisfies Readonly<Record<string, OptionSpec>>
