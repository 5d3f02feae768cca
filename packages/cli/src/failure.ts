import { ClientError, UnreachableError } from '@gatehouse/client'
import { approvalLine } from './approval-card.ts'
import { escapeText } from './escape-text.ts'
import { type ExitCode, exitCodeOf, exitCodes } from './exit-codes.ts'

type Recovery = { readonly action: string; readonly description: string }

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

export type Failure = {
  readonly type: string
  readonly message: string
  readonly exitCode: ExitCode
  readonly details: readonly string[]
  readonly recovery: readonly Recovery[]
  readonly requestId: string | null
}

const plain = { details: [], recovery: [], requestId: null }

/** Errors of the server's own code, met when a command runs in process. */
const isTyped = (
  error: unknown,
): error is Error & {
  type: string
  recovery: readonly Recovery[]
  entry: { readonly http: number }
} => error instanceof Error && 'type' in error && 'recovery' in error && 'entry' in error

const isSystemError = (error: unknown): error is NodeJS.ErrnoException =>
  error instanceof Error && 'code' in error && 'syscall' in error

/** What any thrown thing means to the person at the terminal. */
export function toFailure(thrown: unknown): Failure {
  if (thrown instanceof ClientError) {
    const { problem } = thrown
    return {
      type: problem.code,
      message: problem.detail,
      exitCode: exitCodeOf(thrown.status),
      details: [
        ...(problem.errors ?? []).map(({ pointer, detail }) => `${pointer}: ${detail}`),
        ...(problem.current ? [`as it stands now: ${approvalLine(problem.current)}`] : []),
      ],
      recovery: problem.recovery ?? [],
      requestId: problem.request_id || null,
    }
  }
  if (thrown instanceof UnreachableError)
    return {
      ...plain,
      type: 'NotReachable',
      message: `${thrown.message}.`,
      exitCode: exitCodes.notReachable,
      recovery: [{ action: 'gatehouse doctor', description: 'See what is wrong with the server.' }],
    }
  if (thrown instanceof CliError) return { ...plain, ...pick(thrown), exitCode: thrown.exitCode }
  if (isTyped(thrown)) return { ...plain, ...pick(thrown), exitCode: exitCodeOf(thrown.entry.http) }
  if (isSystemError(thrown))
    return { ...plain, type: 'SystemError', message: thrown.message, exitCode: exitCodes.failed }
  const message = thrown instanceof Error ? thrown.message : String(thrown)
  return { ...plain, type: 'InternalError', message, exitCode: exitCodes.failed }
}

const pick = ({ type, message, recovery }: Omit<CliError, 'exitCode' | 'name'>) => ({
  type,
  message,
  recovery,
})

export function failureText(failure: Failure): string {
  const lines = [`error: ${failure.message} (${failure.type})`]
  for (const detail of failure.details) lines.push(`  ${detail}`)
  for (const { action, description } of failure.recovery)
    lines.push(`  try: ${action}: ${description}`)
  if (failure.type === 'InternalError' && failure.requestId)
    lines.push(`  the server's log has it under ${failure.requestId}`)
  return lines.map(escapeText).join('\n')
}

export const failureJson = ({ type, message, details, recovery, requestId }: Failure): object => ({
  error: { type, message, details, recovery, request_id: requestId },
})
