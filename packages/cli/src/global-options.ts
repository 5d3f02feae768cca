import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import type { OptionSpec } from './define.ts'

/** Understood by every command. */
export const globalOptions = {
  'data-dir': { value: 'DIR', about: 'where the data is (GATEHOUSE_DATA_DIR)' },
  config: { value: 'FILE', about: 'the configuration file (GATEHOUSE_CONFIG)' },
  json: { about: 'print JSON' },
  quiet: { about: 'print only data and errors' },
  'no-color': { about: 'print without colour (NO_COLOR)' },
  yes: { about: 'do not ask for confirmation' },
  help: { about: 'show this help' },
} as const satisfies Readonly<Record<string, OptionSpec>>

type Env = Readonly<Record<string, string | undefined>>

/** Where the data is when nobody says otherwise. */
export const usualDataDir = (env: Env): string =>
  join(env.XDG_DATA_HOME || join(env.HOME ?? homedir(), '.local', 'share'), 'gatehouse')

export function dataDirOf(flag: string | undefined, env: Env): string {
  const given = flag ?? env.GATEHOUSE_DATA_DIR
  return given ? resolve(given) : usualDataDir(env)
}
