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
}

export const usageError = (message: string, recovery: readonly Recovery[] = []): CliError =>
  new CliError('WrongUsage', exitCodes.wrongUsage, message, { recovery })
