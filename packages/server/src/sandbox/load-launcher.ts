import { readFileSync } from 'node:fs'
import { launching, type Machine, numberOf } from './syscalls.ts'

/** Programs in Perl that run untrusted ones, or look at what keeps them, with the files of each in order. */
const launchers = {
  init: ['channel', 'order', 'init'],
  // Apart from the other: without a relay there is less to read at each start.
  'init-relay': ['channel', 'order', 'relay', 'init'],
  'root-launcher': ['channel', 'root-launcher'],
  landlock: ['channel', 'order', 'supervisor', 'landlock'],
  probe: ['probe'],
  'landlock-probe': ['landlock-probe'],
} as const

export type Launcher = keyof typeof launchers

const folder = new URL('../../launchers/', import.meta.url)

/** The numbers, on this machine, of the system calls that a program names: `$SYS_mount` and so on. */
const callNumbers = (program: string, machine: Machine): string => {
  const named = Object.entries(launching).filter(([name]) =>
    new RegExp(`\\$SYS_${name}\\b`).test(program),
  )
  const names = named.map(([name]) => `$SYS_${name}`)
  const numbers = named.map(([, pair]) => numberOf(pair, machine))
  return `my (${names.join(', ')}) = (${numbers.join(', ')});\n`
}

/** The text of a launcher: numbers, then its files as they are. Messages of Perl name file and line. */
export const loadLauncher = (launcher: Launcher, machine: Machine): string => {
  const program = launchers[launcher]
    .map((part) => `# line 1 "${part}.pl"\n${readFileSync(new URL(`${part}.pl`, folder), 'utf8')}`)
    .join('')
  return callNumbers(program, machine) + program
}
