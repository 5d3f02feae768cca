import { refusedVariable } from '../processes/environment.ts'
import { configuresClient } from './client-files.ts'
import { readingCalls } from './reading-programs.ts'
import type { OtherCall, ShellPart } from './shell-part.ts'

const programOf = ({ command, args, working_directory, environment }: ShellPart): OtherCall => ({
  capability: 'process.run',
  arguments: { command, args, working_directory, environment },
})

/** The calls of capabilities that a shell line comes to: each program, and each file that it is redirected to. */
export const shellCalls = (parts: readonly ShellPart[]): readonly OtherCall[] =>
  parts.flatMap((part) => [
    ...(part.command === '' ? [] : (readingCalls(part) ?? [programOf(part)])),
    ...part.reads.map((path) => ({ capability: 'filesystem.read', arguments: { path } })),
    ...part.writes.map((path) => ({
      capability: 'filesystem.write',
      arguments: { path, content: '' },
    })),
  ])

/** Why a person decides on the line, whatever policy says of its parts; null where none has to. */
export const shellHeld = (parts: readonly ShellPart[], unclear: string | null): string | null => {
  if (unclear !== null) return `it cannot be understood: ${unclear}`
  for (const { environment, writes } of parts) {
    const variable = Object.keys(environment).find((name) => refusedVariable(name) !== null)
    if (variable !== undefined)
      return `it sets ${variable}, by which a program would load or obey something else`
    const file = writes.find(configuresClient)
    if (file !== undefined) return `${file} configures what asks for this decision`
  }
  return null
}
