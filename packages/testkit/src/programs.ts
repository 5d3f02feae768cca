import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const places = {
  bwrap: '/usr/bin/bwrap',
  git: '/usr/bin/git',
  dovecot: '/usr/sbin/dovecot',
  radicale: '/usr/bin/radicale',
  chromium: '/usr/bin/chromium',
} as const

/** Whether the test set-up could get this program. A suite that needs it is skipped where it is not, and named by the set-up. */
export const hasProgram = (name: keyof typeof places): boolean => existsSync(places[name])

/** Where the test set-up puts the engine of local models: a service can use it as its own folder. */
export const engineFolder: string = fileURLToPath(
  new URL('../../../.cache/engine', import.meta.url),
)

/** Whether models can really run here: in the sandbox, in the engine that is pinned. */
export const hasEngine = (): boolean =>
  hasProgram('bwrap') &&
  existsSync(engineFolder) &&
  readdirSync(engineFolder).some((name) => existsSync(join(engineFolder, name, 'complete.json')))
