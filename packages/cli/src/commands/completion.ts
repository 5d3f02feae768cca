import { CliError, usageError } from '../cli-error.ts'
import { removeConfigFile, writeConfigFile } from '../clients/config-file.ts'
import { paintDiff } from '../clients/show-change.ts'
import { type CompletionPlan, planCompletion } from '../completion/plan-install.ts'
import { findShell, readScript } from '../completion/shells.ts'
import { type Context, defineCommand } from '../define.ts'
import { escapeText } from '../escape-text.ts'
import { exitCodes } from '../exit-codes.ts'

/** The script asks `gatehouse` at each Tab, so the shell must find it. */
function assertInstalled({ io }: Context): void {
  if (io.program === 'gatehouse') return
  throw new CliError(
    'NotInstalled',
    exitCodes.failed,
    'Completion needs the command gatehouse in your PATH.',
    { recovery: [{ action: 'npm install -g gatehoused', description: 'Install the command.' }] },
  )
}

async function makeChanges({ edits }: CompletionPlan): Promise<void> {
  for (const { file, after } of edits)
    if (after === null) await removeConfigFile(file, null)
    else await writeConfigFile(file, after)
}

export const completion = defineCommand({
  name: 'completion',
  summary: 'Print or install shell completion for commands, agents and approvals',
  args: {
    shell: { about: 'bash, zsh, fish or powershell; without it your login shell', optional: true },
  },
  options: {
    install: { about: 'set it up for bash, zsh or fish, after showing the change' },
    undo: { about: 'remove what --install added' },
    'dry-run': { about: 'show the change without making it' },
  },
  examples: [
    'gatehouse completion --install',
    'gatehouse completion zsh --install --dry-run',
    'gatehouse completion bash --undo',
    'source <(gatehouse completion bash)',
  ],
  async look(context, given) {
    const { install, undo, 'dry-run': isDry } = given
    if (install && undo) throw usageError('--install and --undo exclude each other.')
    if (isDry && !install && !undo) throw usageError('--dry-run goes with --install or --undo.')
    const shell = findShell(given.shell, context.io.env.SHELL)
    if (!install && !undo) return { shell, plan: null }
    if (install) assertInstalled(context)
    const plan = await planCompletion(shell, context.io.env, undo)
    if (!isDry && plan.diff !== '')
      await context.note(paintDiff(plan.diff, context.views.stderr.coloured))
    return { shell, plan }
  },
  question({ undo, 'dry-run': isDry }, { shell, plan }) {
    if (isDry || plan === null || plan.edits.length === 0) return null
    return `${undo ? 'Remove' : 'Install'} completion for ${shell}?`
  },
  async run({ io }, { undo, 'dry-run': isDry }, { shell, plan }) {
    if (plan === null) {
      await io.stdout.write(await readScript(shell))
      return
    }
    if (!isDry) await makeChanges(plan)
    return {
      shell,
      installed: !undo,
      files: plan.edits.map(({ file }) => file.path),
      dry_run: isDry,
      diff: plan.diff,
    }
  },
  text({ shell, installed, files, dry_run, diff }, { next, coloured }) {
    if (files.length === 0)
      return `Nothing to change: completion for ${shell} is ${installed ? 'installed' : 'not installed'}.`
    if (dry_run) return paintDiff(diff, coloured)
    const changed = `Changed: ${files.map(escapeText).join(', ')}`
    return installed
      ? [
          `Completion for ${shell} is installed. Open a new terminal to use it.`,
          changed,
          `Undo: ${next(`completion ${shell} --undo`)}`,
        ].join('\n')
      : `Completion for ${shell} is removed.\n${changed}`
  },
})
