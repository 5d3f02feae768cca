import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { didYouMean } from '@gatehouse/contract/nearest'
import { usageError } from '../cli-error.ts'

/** Each script hands the words so far to `gatehouse __complete`, one a line, and offers what comes back. */
const scripts: ReadonlyMap<string, string> = new Map([
  ['bash', 'gatehouse.bash'],
  ['zsh', 'gatehouse.zsh'],
  ['fish', 'gatehouse.fish'],
  ['powershell', 'gatehouse.ps1'],
])
const folder = new URL('../../completions/', import.meta.url)

/** The named shell, or the login shell. Raises a usage error for one that there is no script for. */
export function findShell(named: string | undefined, login: string | undefined): string {
  const shells = [...scripts.keys()]
  const shell = named ?? basename(login ?? '')
  if (scripts.has(shell)) return shell
  if (named === undefined) throw usageError(`Name the shell: ${shells.join(', ')}.`)
  throw usageError(`"${shell}" is none of ${shells.join(', ')}.${didYouMean(shell, shells)}`)
}

export const readScript = (shell: string): Promise<string> =>
  readFile(new URL(scripts.get(shell) ?? '', folder), 'utf8')
