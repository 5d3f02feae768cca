import {
  ClientError,
  InvalidNameError,
  UnexpectedAnswerError,
  UnreachableError,
} from '@gatehouse/rest-client'
import { asNextStep } from './as-next-step.ts'
import { CliError, type Recovery } from './cli-error.ts'
import { red } from './colour.ts'
import { escapeText, jsonText } from './escape-text.ts'
import { type ExitCode, exitCodeOf, exitCodes } from './exit-codes.ts'
import type { NextStep } from './next-step.ts'
import { recordLine } from './record-line.ts'

export type Failure = {
  readonly type: string
  readonly message: string
  readonly exitCode: ExitCode
  readonly details: readonly { readonly at: string; readonly text: string }[]
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

/** Failure for the person at the terminal, made of any thrown thing. */
export function toFailure(thrown: unknown): Failure {
  if (thrown instanceof ClientError) {
    const { problem } = thrown
    return {
      type: problem.code,
      message: problem.detail,
      exitCode: exitCodeOf(thrown.status),
      details: [
        ...(problem.errors ?? []).map(({ pointer, detail }) => ({ at: pointer, text: detail })),
        ...(problem.current ? [{ at: 'as it stands now', text: recordLine(problem.current) }] : []),
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
  if (thrown instanceof InvalidNameError)
    return {
      ...plain,
      type: 'InvalidName',
      message: thrown.message,
      exitCode: exitCodes.wrongUsage,
    }
  if (thrown instanceof UnexpectedAnswerError)
    return {
      ...plain,
      type: 'UnexpectedAnswer',
      message: thrown.message,
      exitCode: exitCodes.failed,
      recovery: [
        {
          action: 'gatehouse status',
          description: 'Compare its version with gatehouse version, and restart an older server.',
        },
      ],
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

/** With each command in it as it works here. */
function withNextSteps(failure: Failure, next: NextStep): Failure {
  const { message, details, recovery } = failure
  return {
    ...failure,
    message: asNextStep(message, next),
    details: details.map(({ at, text }) => ({ at, text: asNextStep(text, next) })),
    recovery: recovery.map(({ action, description }) => ({
      action: asNextStep(action, next),
      description: asNextStep(description, next),
    })),
  }
}

function failureText(failure: Failure, coloured: boolean): string {
  const lines = [`${failure.message} (${failure.type})`]
  // The sentence of the error is often that of its first detail.
  for (const { at, text } of failure.details)
    if (!failure.message.includes(text)) lines.push(`  ${at}: ${text}`)
  for (const { action, description } of failure.recovery)
    lines.push(`  try: ${action}: ${description}`)
  if (failure.type === 'InternalError' && failure.requestId)
    lines.push(`  the server's log has it under ${failure.requestId}`)
  return `${red('error:', coloured)} ${lines.map(escapeText).join('\n')}`
}

const failureJson = ({ type, message, details, recovery, requestId }: Failure): object => ({
  error: {
    type,
    message,
    details: details.map(({ at, text }) => `${at}: ${text}`),
    recovery,
    request_id: requestId,
  },
})

/** Failure as a person or, with `--json`, a program reads it on the error output. */
export function failureOutput(
  thrown: unknown,
  json: boolean,
  next: NextStep,
  coloured: boolean,
): { readonly exitCode: ExitCode; readonly text: string } {
  const failure = withNextSteps(toFailure(thrown), next)
  const text = json ? jsonText(failureJson(failure)) : failureText(failure, coloured)
  return { exitCode: failure.exitCode, text }
}
