import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { CliError, usageError } from '../cli-error.ts'
import { defineCommand } from '../define.ts'
import { escapeLines, escapeText } from '../escape-text.ts'
import { exitCodes } from '../exit-codes.ts'
import type { Io } from '../io.ts'
import { serviceUnit } from '../service/service-unit.ts'

const run = promisify(execFile)

const unitFile = (scope: 'system' | 'user', { XDG_CONFIG_HOME: config, HOME: home }: Io['env']) =>
  scope === 'system'
    ? '/etc/systemd/system/gatehouse.service'
    : join(config || join(home || homedir(), '.config'), 'systemd/user/gatehouse.service')

const startCommands = (scope: 'system' | 'user'): readonly (readonly string[])[] => {
  const systemctl = scope === 'system' ? ['systemctl'] : ['systemctl', '--user']
  return [
    [...systemctl, 'daemon-reload'],
    [...systemctl, 'enable', '--now', 'gatehouse.service'],
  ]
}

const failed = (message: string, cause: unknown) =>
  new CliError('ServiceNotInstalled', exitCodes.failed, message, { cause })

function writeUnit(file: string, unit: string): void {
  try {
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, unit, { mode: 0o644 })
  } catch (cause) {
    throw failed(`${escapeText(file)} cannot be written: ${(cause as Error).message}`, cause)
  }
}

export const setupService = defineCommand({
  name: 'setup service',
  summary: 'Run the server as a systemd service: show the unit, then install and start it',
  options: {
    system: { about: 'for the machine, under a user of its own (as root)' },
    user: { about: 'for you, while you are logged in' },
    'passphrase-file': {
      value: 'FILE',
      about: "file with the vault's passphrase, for the service to read at each start",
    },
    'dry-run': { about: 'show the unit without writing it' },
  },
  examples: [
    'gatehouse setup service --user --dry-run',
    'sudo gatehouse setup service --system',
    'sudo gatehouse setup service --system --passphrase-file /etc/gatehouse/vault-passphrase',
  ],
  async look({ io, places }, { system, user, 'passphrase-file': passphrase, 'dry-run': dryRun }) {
    if (system && user) throw usageError('--system and --user exclude each other.')
    const isRoot = process.getuid?.() === 0
    const scope = system || (isRoot && !user) ? ('system' as const) : ('user' as const)
    const unit = serviceUnit({
      scope,
      command: io.self,
      dataDir: places.named ? places.dirs[0] : null,
      passphraseFile: passphrase === undefined ? null : resolve(passphrase),
    })
    const file = unitFile(scope, io.env)
    // Without systemd as the first process a unit helps nobody.
    const isRunning = existsSync('/run/systemd/system')
    if (!dryRun && !isRunning)
      throw new CliError(
        'NoSystemd',
        exitCodes.failed,
        'systemd does not run this machine; --dry-run shows the unit.',
      )
    return { scope, unit, file, dryRun, commands: startCommands(scope) }
  },
  question(_input, { dryRun, file, unit, commands }) {
    if (dryRun) return null
    const lines = commands.map((words) => words.join(' ')).join('\n')
    return `${escapeText(file)}\n\n${escapeLines(unit)}\n${lines}\n\nWrite this file and run these commands?`
  },
  async run(_context, _input, { scope, unit, file, dryRun, commands }) {
    const shown = commands.map((words) => words.join(' '))
    if (dryRun) return { scope, file, unit, commands: shown, done: false }
    writeUnit(file, unit)
    for (const [program = '', ...args] of commands)
      try {
        await run(program, args)
      } catch (cause) {
        throw failed(`${[program, ...args].join(' ')} failed: ${(cause as Error).message}`, cause)
      }
    return { scope, file, unit, commands: shown, done: true }
  },
  text: ({ scope, file, unit, commands, done }, { next }) =>
    done
      ? [
          `${escapeText(file)} is written, and the service is started.`,
          '',
          ...(scope === 'user'
            ? ['It ends when you log out, unless: loginctl enable-linger']
            : ['Its data: /var/lib/gatehouse, unless another directory was named.']),
          `Its log: journalctl ${scope === 'user' ? '--user ' : ''}--unit gatehouse`,
          `Whether it works: ${next('status')}`,
        ].join('\n')
      : [
          `# ${escapeText(file)}`,
          '',
          escapeLines(unit),
          ...commands.map((line) => `# ${line}`),
        ].join('\n'),
})
