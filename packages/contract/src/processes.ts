import { z } from 'zod'
import { AgentName, ProcessId, Timestamp } from './ids.ts'

/**
 * `completed`: it ended by itself, with whatever exit code. `killed`: a signal ended it. `timed_out`: its time
 * was over. `interrupted`: the service ended, and the process with it.
 */
export const ProcessState = z.enum(['running', 'completed', 'killed', 'timed_out', 'interrupted'])
export type ProcessState = z.infer<typeof ProcessState>

/** Signals that may be sent. Those in the second row do not end a program that minds them. */
export const ProcessSignal = z.enum([
  ...(['SIGTERM', 'SIGINT', 'SIGKILL', 'SIGQUIT', 'SIGABRT'] as const),
  ...(['SIGHUP', 'SIGUSR1', 'SIGUSR2', 'SIGWINCH', 'SIGSTOP', 'SIGCONT'] as const),
])
export type ProcessSignal = z.infer<typeof ProcessSignal>

/** A program that an agent started. */
export const Process = z.object({
  process_id: ProcessId,
  agent: AgentName,
  command: z.string(),
  args: z.array(z.string()),
  working_directory: z.string(),
  /** Whether it goes on after the call that started it. */
  background: z.boolean(),
  state: ProcessState,
  exit_code: z.int().nullable(),
  /** The signal that ended it. */
  signal: z.string().nullable(),
  /** Sandbox backend that ran the program: `bubblewrap`, `landlock` or `unconfined`. */
  sandbox: z.string(),
  /** Hosts that the program may reach, as `host:port`. */
  network: z.array(z.string()),
  started_at: Timestamp,
  ended_at: Timestamp.nullable(),
  /** Bytes that the program wrote, kept or not. */
  stdout_bytes: z.int(),
  stderr_bytes: z.int(),
  cpu_ms: z.int().nullable(),
  memory_bytes_max: z.int().nullable(),
  /** Why it ended, where that was not its own doing. */
  detail: z.string().nullable(),
})
export type Process = z.infer<typeof Process>

export const ProcessList = z.object({ processes: z.array(Process), total: z.int() })
export type ProcessList = z.infer<typeof ProcessList>

export const ProcessStream = z.enum(['stdout', 'stderr'])
export type ProcessStream = z.infer<typeof ProcessStream>

export const ProcessLog = z.object({
  process_id: ProcessId,
  stream: ProcessStream,
  state: ProcessState,
  /** UTF-8; what is not is replaced. */
  content: z.string(),
  /** Where `content` begins, in bytes since the start of the stream, and where to go on. */
  offset: z.int(),
  next_offset: z.int(),
  total_bytes: z.int(),
  /** Bytes before `offset`, of those asked for, that are no longer kept. */
  lost_bytes: z.int(),
  /** Whether there is more after `next_offset` now. */
  truncated: z.boolean(),
})
export type ProcessLog = z.infer<typeof ProcessLog>

export const KillProcess = z.strictObject({
  signal: ProcessSignal.default('SIGTERM'),
  force_after_seconds: z.int().min(0).max(60).default(10),
})
export type KillProcess = z.infer<typeof KillProcess>

export const KilledProcess = z.object({
  process_id: ProcessId,
  state: ProcessState,
  signal_sent: z.string(),
})
export type KilledProcess = z.infer<typeof KilledProcess>
