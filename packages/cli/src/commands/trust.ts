import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { promisify } from 'node:util'
import { CliError } from '../cli-error.ts'
import { defineCommand } from '../define.ts'
import { escapeText } from '../escape-text.ts'
import { exitCodes } from '../exit-codes.ts'
import { planTrust, typed } from '../trust/plan.ts'
import { readAuthority } from '../trust/read-authority.ts'

const run = promisify(execFile)

async function runAll(commands: readonly (readonly string[])[]): Promise<void> {
  for (const [program = '', ...args] of commands)
    try {
      await run(program, args)
    } catch (cause) {
      throw new CliError(
        'TrustFailed',
        exitCodes.failed,
        `${typed([program, ...args])} failed: ${escapeText((cause as Error).message)}`,
        { cause },
      )
    }
}

export const trust = defineCommand({
  name: 'trust',
  summary: 'Make this machine trust the certificate of the dashboard, or stop trusting it',
  options: {
    remove: { about: 'stop trusting it' },
    'dry-run': { about: 'show the commands without running them' },
  },
  examples: ['gatehouse trust', 'sudo gatehouse trust --data-dir DIR', 'gatehouse trust --remove'],
  async look({ dataDir }, { remove, 'dry-run': dryRun }) {
    const authority = await readAuthority(await dataDir())
    const plan = planTrust({
      platform: process.platform,
      isRoot: process.getuid?.() === 0,
      home: homedir(),
      caFile: authority.file,
      fingerprint: authority.fingerprint,
      remove,
      exists: existsSync,
    })
    return { authority, plan, willRun: plan.mayRun && plan.commands.length > 0 && !dryRun }
  },
  question({ remove }, { authority, willRun }) {
    if (!willRun) return null
    const question = remove ? 'Stop trusting it?' : 'Trust it on this machine?'
    return `Authority ${authority.fingerprint}\n${question}`
  },
  async run(_context, { remove }, { authority, plan, willRun }) {
    if (willRun) await runAll(plan.commands)
    const commands = plan.commands.map(typed)
    return { ...authority, removed: remove, done: willRun, commands, notes: plan.notes }
  },
  text: ({ file, fingerprint, done, removed, commands, notes }) =>
    [
      `Authority    ${escapeText(file)}`,
      `Fingerprint  ${fingerprint}`,
      '',
      ...(done ? [removed ? 'The system no longer trusts it.' : 'The system trusts it now.'] : []),
      ...(!done && commands.length > 0
        ? ['Nothing was changed. Run this as a user who may:', '']
        : []),
      ...(done ? [] : commands.map((line) => `  sudo ${escapeText(line)}`)),
      '',
      ...notes.map(escapeText),
      'The authority vouches for this machine and the configured names only, and for no other site.',
    ].join('\n'),
})
