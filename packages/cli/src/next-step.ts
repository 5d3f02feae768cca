import { realpathSync } from 'node:fs'
import { delimiter, join, sep } from 'node:path'
import { shellWord } from '@gatehouse/contract/shell-word'

type Env = Readonly<Record<string, string | undefined>>

/** Builds a command that works as printed, from the words after the name of the program. */
export type NextStep = (words: string) => string

const pathOf = (file: string): string | null => {
  try {
    return realpathSync(file)
  } catch {
    return null
  }
}

/** Where the shell finds this very program by its name; null where it does not. */
function installedFile(own: string, env: Env): string | null {
  // npm adds such folders for its own commands only; another terminal does not have them.
  const folders = (env.PATH ?? '')
    .split(delimiter)
    .filter((path) => path !== '' && !path.endsWith(join(sep, 'node_modules', '.bin')))
  const files = folders.map((path) => join(path, 'gatehouse'))
  return files.find((file) => pathOf(file) === own) ?? null
}

/** Name of the package in the registry, where `gatehouse` is somebody else's. */
const packageName = 'gatehoused'

/** Whether npx fetched this program into its cache, where no other terminal finds it by a name. */
const isFetched = (own: string): boolean =>
  own.includes(join(sep, '_npx', sep)) && own.includes(join(sep, packageName, sep))

/** The program's file for other programs: its installed name, which outlives an upgrade, before its place. */
export function programFile(script: string, env: Env): string {
  const own = pathOf(script)
  return own === null ? script : (installedFile(own, env) ?? own)
}

/** How this very program is started from another terminal: by its name where the shell finds it under that. */
export function programName(script: string, env: Env, folder: string): string {
  const own = pathOf(script)
  if (own === null) return 'gatehouse'
  const isOwn = (file: string) => pathOf(file) === own
  if (installedFile(own, env) !== null) return 'gatehouse'
  if (isOwn(join(folder, 'node_modules', '.bin', 'gatehouse'))) return 'npx gatehouse'
  if (isFetched(own)) return `npx ${packageName}`
  return `node ${shellWord(own)}`
}

/** Next steps for the data directory that this command works on; the usual one needs no flag. */
export const createNextStep =
  (program: string, dataDir: () => string, usualDir: string): NextStep =>
  (words) =>
    [program, words, ...(dataDir() === usualDir ? [] : ['--data-dir', shellWord(dataDir())])].join(
      ' ',
    )
