import { type ExitCode, exitCodes } from './exit-codes.ts'

export type Recovery = { readonly action: string; readonly description: string }

/** Why a command did not do what it was asked: what, why, and what to do. */
export class CliError extends Error {
  readonly type: string
  readonly exitCode: ExitCode
  readonly recovery: readonly Recovery[]

  constructor(
    type: string,
    exitCode: ExitCode,
    message: string,
    options: { readonly cause?: unknown; readonly recovery?: readonly Recovery[] } = {},
  ) {
    super(message, options.cause === undefined ? {} : { cause: options.cause })
    this.name = 'CliError'
    this.type = type
    this.exitCode = exitCode
    this.recovery = options.recovery ?? []
  }

  /** The hook is a bundle by itself, with a copy of this class: what it raises is told by the code of the other bundle. */
  static override [Symbol.hasInstance](value: unknown): value is CliError {
    return value instanceof Error && value.name === 'CliError'
  }
}

export const usageError = (message: string, recovery: readonly Recovery[] = []): CliError =>
  new CliError('WrongUsage', exitCodes.wrongUsage, message, { recovery })
