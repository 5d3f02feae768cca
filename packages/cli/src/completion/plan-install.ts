import { join } from 'node:path'
import { shellWord } from '@gatehouse/contract/shell-word'
import { usageError } from '../cli-error.ts'
import { homeOf } from '../clients/client.ts'
import { type ConfigFile, readConfigFile, textOf } from '../clients/config-file.ts'
import { diffOf } from '../clients/show-change.ts'
import { readScript } from './shells.ts'

type Env = Readonly<Record<string, string | undefined>>

/** A file before and after; null after means that it is removed. */
type Edit = { readonly file: ConfigFile; readonly before: string; readonly after: string | null }

export type CompletionPlan = { readonly edits: readonly Edit[]; readonly diff: string }

const marker = '# added by Gatehouse'

/** Lines of an rc file without ours, which carry the marker. */
const withoutOurs = (text: string): string =>
  text
    .split('\n')
    .filter((line) => !line.endsWith(marker))
    .join('\n')

const withLines = (text: string, lines: readonly string[]): string => {
  const kept = withoutOurs(text)
  const start = kept === '' || kept.endsWith('\n') ? kept : `${kept}\n`
  return `${start}${lines.map((line) => `${line} ${marker}\n`).join('')}`
}

/** Where a shell finds the script: fish looks into a folder of its own, the others are told by their rc file. */
function placesOf(shell: string, env: Env) {
  const home = homeOf({ env, platform: process.platform, folder: '/' })
  const config = env.XDG_CONFIG_HOME || join(home, '.config')
  if (shell === 'fish')
    return { script: join(config, 'fish/completions/gatehouse.fish'), rc: null, lines: [] }
  const script = join(config, `gatehouse/complete.${shell}`)
  const load = `source ${shellWord(script)}`
  if (shell === 'bash') return { script, rc: join(home, '.bashrc'), lines: [load] }
  if (shell === 'zsh')
    return {
      script,
      rc: join(env.ZDOTDIR || home, '.zshrc'),
      lines: ['(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }', load],
    }
  throw usageError(
    `--install works for bash, zsh and fish. For ${shell}, add the script to your profile.`,
  )
}

/** Changes that install the completion of a shell, or undo that. Nothing is written. */
export async function planCompletion(
  shell: string,
  env: Env,
  isUndo: boolean,
): Promise<CompletionPlan> {
  const { script, rc, lines } = placesOf(shell, env)
  const file = await readConfigFile(script, 0o644)
  const edits: Edit[] = [
    { file, before: textOf(file), after: isUndo ? null : await readScript(shell) },
  ]
  if (rc !== null) {
    const profile = await readConfigFile(rc, 0o644)
    const before = textOf(profile)
    edits.push({
      file: profile,
      before,
      // One that has nothing else in it was made by --install.
      after: isUndo ? withoutOurs(before) || null : withLines(before, lines),
    })
  }
  const changed = edits.filter(({ file: { bytes }, before, after }) =>
    after === null ? bytes !== null : after !== before,
  )
  const diff = changed
    .map(({ file: { path }, before, after }) => diffOf(path, before, after ?? ''))
    .join('\n')
  return { edits: changed, diff }
}
