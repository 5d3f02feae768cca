import { didYouMean } from '@gatehouse/contract/nearest'
import { usageError } from '../cli-error.ts'
import { completionScripts } from '../completion-scripts.ts'
import { defineCommand } from '../define.ts'

const shells = ['bash', 'zsh', 'fish', 'powershell'] as const
type Shell = (typeof shells)[number]
const isShell = (name: string): name is Shell => (shells as readonly string[]).includes(name)

export const completion = defineCommand({
  name: 'completion',
  summary: 'Print the shell completion script for commands, agents and approvals',
  args: { shell: 'bash, zsh, fish or powershell' },
  examples: [
    'source <(gatehouse completion bash)',
    'gatehouse completion fish > ~/.config/fish/completions/gatehouse.fish',
  ],
  async run({ io }, { shell }) {
    if (!isShell(shell))
      throw usageError(`"${shell}" is none of ${shells.join(', ')}.${didYouMean(shell, shells)}`)
    await io.stdout.write(completionScripts[shell])
  },
})
