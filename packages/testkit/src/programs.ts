import { existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const places = {
  bwrap: '/usr/bin/bwrap',
  git: '/usr/bin/git',
  dovecot: '/usr/sbin/dovecot',
  rsyslog: '/usr/sbin/rsyslogd',
  radicale: '/usr/bin/radicale',
  chromium: '/usr/bin/chromium',
  curl: '/usr/bin/curl',
  jq: '/usr/bin/jq',
  mandoc: '/usr/bin/mandoc',
  openssl: '/usr/bin/openssl',
  xxd: '/usr/bin/xxd',
  zsh: '/usr/bin/zsh',
  fish: '/usr/bin/fish',
  sshd: '/usr/sbin/sshd',
  caddy: '/usr/bin/caddy',
  nginx: '/usr/sbin/nginx',
  prlimit: '/usr/bin/prlimit',
  pgbouncer: '/usr/sbin/pgbouncer',
  promtool: '/usr/bin/promtool',
  'systemd-analyze': '/usr/bin/systemd-analyze',
} as const

/** Whether the test set-up could get this program. A suite that needs it is skipped where it is not, and named by the set-up. */
export const hasProgram = (name: keyof typeof places): boolean => existsSync(places[name])

export const programPath = (name: keyof typeof places): string => places[name]

/** Where the test set-up puts the engine of local models: a service can use it as its own folder. */
export const engineFolder: string = fileURLToPath(
  new URL('../../../.cache/engine', import.meta.url),
)

/** Whether models can really run here: in the sandbox, in the engine that is pinned. */
export const hasEngine = (): boolean =>
  hasProgram('bwrap') &&
  existsSync(engineFolder) &&
  readdirSync(engineFolder).some((name) => existsSync(join(engineFolder, name, 'complete.json')))

/** A program of others that is no dependency of ours, in its folder below `test/programs`. */
export type ForeignProgram = {
  readonly folder: string
  /** The Node that it runs on: its own where its package.json brings one. */
  readonly node: string
  /** A file of one of its packages. */
  readonly file: (path: string) => string
}

/** The program as its lock has it, or null where the test set-up could not get it, and named it. */
export const foreignProgram = (name: string): ForeignProgram | null => {
  const folder = fileURLToPath(new URL(`../../../test/programs/${name}`, import.meta.url))
  const modules = join(folder, 'node_modules')
  if (!existsSync(modules)) return null
  const installed = dirname(realpathSync(modules))
  for (const file of ['package.json', 'package-lock.json'])
    if (readFileSync(join(folder, file), 'utf8') !== readFileSync(join(installed, file), 'utf8'))
      return null
  const own = join(modules, `node-${process.platform}-${process.arch}`, 'bin/node')
  const { engines } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    readonly engines?: { readonly node: string }
  }
  const node = existsSync(own) ? own : process.execPath
  const majorMin = Number(/\d+/.exec(engines?.node ?? '')?.[0] ?? 0)
  if (node !== own && Number.parseInt(process.versions.node, 10) < majorMin) return null
  return { folder, node, file: (path) => join(modules, path) }
}
