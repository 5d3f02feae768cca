import type { Command } from './define.ts'

/** A command in the list of all: what the help says of it, and how it is loaded. */
export type CommandEntry = {
  readonly name: string
  readonly summary: string
  readonly load: () => Promise<Command>
}
