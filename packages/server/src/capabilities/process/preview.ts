import type { Preview } from '@gatehouse/contract'
import { commandLine } from '../../domain/processes/command-line.ts'
import type { ProcessFacts, RunProcess } from '../../ports/processes.ts'

const kept: Readonly<Record<string, string>> = {
  bubblewrap: 'sandbox: bubblewrap',
  landlock:
    'sandbox: landlock, WEAKER than bubblewrap: it can tell which files and processes exist on the machine, and its temporary folder has no size',
  unconfined: 'UNCONFINED: it can do whatever the service itself can',
}

/** Everything that a person has to know of a program before it runs; each text shown with its ends. */
export const processPreview = (run: RunProcess, facts: ProcessFacts): Preview => {
  const { command, args, environment, background, timeout_seconds, stdin } = run
  const variables = Object.entries(environment).map(([name, value]) =>
    commandLine([`${name}=${value}`]),
  )
  const hosts = facts.network.length > 0 ? commandLine(facts.network) : 'none'
  const bound = facts.files.map(({ path }) => path)
  const lines = [
    commandLine([command, ...args]),
    `program: ${commandLine([facts.program.path])}`,
    `in: ${commandLine([facts.working_directory.path])}`,
    ...(variables.length > 0 ? [`with: ${variables.join(' ')}`] : []),
    ...(bound.length > 0 ? [`reads, as it is now: ${commandLine(bound)}`] : []),
    ...(stdin === undefined ? [] : [`input: ${Buffer.byteLength(stdin)} bytes`]),
    `network: ${hosts}`,
    kept[facts.sandbox ?? ''] ?? 'no sandbox holds here now, so it would be refused',
    `may run${background ? ' in the background' : ''} for up to ${timeout_seconds} s`,
  ]
  return { kind: 'command', text: lines.join('\n') }
}
