/** One program that a shell line starts, with nothing left for the shell to work out. */
export type ShellPart = {
  readonly command: string
  readonly args: readonly string[]
  readonly environment: Readonly<Record<string, string>>
  /** Absolute. */
  readonly working_directory: string
  /** Files that redirections read and write, absolute. */
  readonly reads: readonly string[]
  readonly writes: readonly string[]
}

export type OtherCall = {
  readonly capability: string
  readonly arguments: Readonly<Record<string, unknown>>
}
