/** The terminal, or what stands in its place. */
export interface Output {
  readonly isTTY: boolean
  readonly columns: number
  /** Resolves when more may be written. */
  write(text: string): Promise<void>
}

export interface Input {
  readonly isTTY: boolean
  /** Everything until the end. */
  readAll(): Promise<string>
  /** One line, after a question on the error output. */
  ask(question: string): Promise<string>
  /** Keys as they are pressed, without waiting for Enter, until the signal aborts. */
  keys(signal: AbortSignal): AsyncIterable<string>
}

export type Io = {
  readonly stdin: Input
  readonly stdout: Output
  readonly stderr: Output
  readonly env: Readonly<Record<string, string | undefined>>
  /** Aborts when the person ends the command. */
  readonly signal: AbortSignal
}
