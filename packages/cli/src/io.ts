/** The terminal, or what stands in its place. */
export interface Output {
  readonly isTTY: boolean
  readonly columns: number
  /** Resolves when more may be written. */
  write(text: string): Promise<void>
}

/** Keys that arrived in one piece, and when: one key, or several that were pasted or typed ahead. */
export type KeyPress = { readonly text: string; readonly atMs: number }

export interface Input {
  readonly isTTY: boolean
  /** Everything until the end. */
  readAll(): Promise<string>
  /** As it comes, until the end or until the signal aborts. */
  chunks(signal: AbortSignal): AsyncIterable<Buffer>
  /** One line, after a question on the error output. */
  ask(question: string): Promise<string>
  /** Keys as they are pressed, without waiting for Enter, until the signal aborts. */
  keys(signal: AbortSignal): AsyncIterable<KeyPress>
}

export type Io = {
  readonly stdin: Input
  readonly stdout: Output
  readonly stderr: Output
  /** The name under which another terminal finds this program. */
  readonly program: string
  /** Words that start this program from any folder and without a shell: Node, and the program's file. */
  readonly self: readonly [node: string, file: string]
  readonly env: Readonly<Record<string, string | undefined>>
  /** Aborts when the person ends the command. */
  readonly signal: AbortSignal
  /** The clock of `KeyPress.atMs`; it never goes back. */
  nowMs(): number
}
