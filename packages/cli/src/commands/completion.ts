import { readFile } from 'node:fs/promises'
import { didYouMean } from '@gatehouse/contract/nearest'
import { usageError } from '../cli-error.ts'
import { defineCommand } from '../define.ts'

/** Each script hands the words so far to `gatehouse __complete`, one a line, and offers what comes back. */
const scripts: ReadonlyMap<string, string> = new Map([
  ['bash', 'gatehouse.bash'],
  ['zsh', 'gatehouse.zsh'],
  ['fish', 'gatehouse.fish'],
  ['powershell', 'gatehouse.ps1'],
])
const folder = new URL('../../completions/', import.meta.url)

export const completion = defineCommand({
  name: 'completion',
  summary: 'Print the shell completion script for commands, agents and approvals',
  args: { shell: 'bash, zsh, fish or powershell' },
  examples: [
    'source <(gatehouse completion bash)',
    'gatehouse completion fish > ~/.config/fish/completions/gatehouse.fish',
  ],
  async run({ io }, { shell }) {
    const script = scripts.get(shell)
    if (script === undefined) {
      const shells = [...scripts.keys()]
      throw usageError(`"${shell}" is none of ${shells.join(', ')}.${didYouMean(shell, shells)}`)
    }
    await io.stdout.write(await readFile(new URL(script, folder), 'utf8'))
  },
})
