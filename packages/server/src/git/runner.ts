import { GatehouseError } from '@gatehouse/contract'
import { gitMissing } from '../domain/git-missing.ts'
import type { Sandbox, SandboxMount, SandboxResult, SandboxSpec } from '../ports/sandbox.ts'

const mebibyte = 1024 * 1024

const limits = {
  memory_bytes: 2048 * mebibyte,
  processes: 64,
  cpu_seconds: 600,
  file_bytes: 8192 * mebibyte,
  temporary_bytes: 64 * mebibyte,
} as const

export const outputBytesMax = 32 * mebibyte
const localMs = 120_000

export type RunOptions = {
  readonly program?: string
  readonly args: readonly string[]
  readonly environment: Readonly<Record<string, string>>
  readonly mounts: readonly SandboxMount[]
  readonly workingDirectory: string
  readonly network?: SandboxSpec['network']
  readonly stdin?: Uint8Array
  readonly outputBytesMax?: number
  readonly timeoutMs?: number
}

export type RunnerDeps = {
  readonly sandbox: Pick<Sandbox, 'run'>
  readonly signal: AbortSignal
  readonly noted: (facts: Readonly<Record<string, unknown>>) => void
  readonly capability: string
}

/** Runs one program in the sandbox, and says which backend ran it. */
export const runProgram = async (deps: RunnerDeps, options: RunOptions): Promise<SandboxResult> => {
  deps.signal.throwIfAborted()
  const timeout_ms = options.timeoutMs ?? localMs
  const program = options.program ?? 'git'
  const running = deps.sandbox.run(
    {
      program,
      args: options.args,
      environment: options.environment,
      working_directory: options.workingDirectory,
      mounts: options.mounts,
      network: options.network ?? { kind: 'none' },
      limits,
    },
    {
      ...(options.stdin ? { stdin: options.stdin } : {}),
      max_output_bytes: options.outputBytesMax ?? outputBytesMax,
      timeout_ms,
    },
    deps.signal,
  )
  const result = await running.catch((cause: unknown) => {
    throw cause instanceof GatehouseError && cause.type === 'ProgramNotFound'
      ? gitMissing(program, { cause })
      : cause
  })
  deps.noted({ sandbox: result.backend })
  deps.signal.throwIfAborted()
  if (result.timed_out) {
    throw new GatehouseError('DeadlineExceeded', {
      capability: deps.capability,
      timeout_seconds: timeout_ms / 1000,
    })
  }
  return result
}
