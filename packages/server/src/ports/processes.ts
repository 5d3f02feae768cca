import type {
  KilledProcess,
  KillProcess,
  Process,
  ProcessLog,
  ProcessState,
  ProcessStream,
} from '@gatehouse/contract'
import type { Files } from './files.ts'
import type { SandboxBackend, SandboxLimits, SandboxUsage } from './sandbox.ts'

/** Program to run, as it was asked for. */
export type ProcessRequest = {
  /** A plain name on the fixed PATH, or a path with a slash: in a folder of that PATH or of the agent. */
  readonly command: string
  readonly args: readonly string[]
  readonly working_directory: string
  readonly environment: Readonly<Record<string, string>>
  /** `host:port` patterns, by policy. */
  readonly network: readonly string[]
}

/** The folders it is for. */
export type ProcessSite = {
  readonly agent: string
  readonly workspace: string
  readonly mounts: readonly { readonly path: string; readonly read_only: boolean }[]
  readonly files: Files
  /** Whether policy lets the call run a program in a folder, told by where it really is. */
  readonly permits: (folder: string) => boolean
}

/** Facts that a request resolves to now, as JSON: bound by an approval and compared before the run. */
export type ProcessFacts = {
  /** Identity of a program of the system, content of one in the agent's folders. */
  readonly program: {
    readonly path: string
    readonly identity: string
  }
  readonly working_directory: { readonly path: string; readonly dev: string; readonly ino: string }
  /** Files of the agent that arguments name: an interpreter would run them. */
  readonly files: readonly {
    readonly argument: number
    readonly path: string
    readonly identity: string
  }[]
  readonly network: readonly string[]
  /** Null where no sandbox holds, so that nothing would run. */
  readonly sandbox: SandboxBackend | null
}

export type ProcessSetting = {
  readonly id: string
  /** Facts that a person approved; null where nobody had to. Exactly this runs, or `ApprovalStale` is raised. */
  readonly approved: ProcessFacts | null
  readonly stdin: Uint8Array | null
  readonly limits: SandboxLimits
  readonly timeout_ms: number
  /** `head`: the first bytes of each stream, in memory. `ring`: the last ones, in files that stay. */
  readonly output:
    | { readonly keeps: 'head'; readonly bytes_max: number }
    | { readonly keeps: 'ring' }
}

export type ProcessEnd = {
  readonly state: Exclude<ProcessState, 'running' | 'interrupted'>
  readonly exit_code: number | null
  readonly signal: string | null
  readonly usage: SandboxUsage
  /** Why, where it was ended from outside. */
  readonly detail: string | null
  /** Hosts that it asked for and policy does not name, as `host:port`. */
  readonly refused_hosts: readonly string[]
}

export type ProcessSample = {
  readonly cpu_ms: number
  readonly memory_bytes: number
  readonly processes: number
}

/** A piece of a stream. Offsets are bytes since its start. */
export type StreamPiece = {
  readonly bytes: Uint8Array
  readonly offset: number
  readonly total_bytes: number
}

/** Process that runs, or ran, under this service. */
export interface HostedProcess {
  readonly sandbox: SandboxBackend
  readonly working_directory: string
  /** When it and all that it started are gone and its output is kept. Never rejects. */
  readonly exited: Promise<ProcessEnd>
  /** Bytes that the process has written so far, kept or not. */
  written(stream: ProcessStream): number
  read(stream: ProcessStream, offset: number, limit: number): Promise<StreamPiece>
  /** Resources that the process and its children use now; null where the system does not say. */
  sample(): ProcessSample | null
  /** With a detail it counts as ended from outside, whatever the program makes of the signal. */
  signal(name: string, detail: string | null): void
  /** Must end all of it: SIGTERM, and SIGKILL after the grace. */
  end(graceMs: number, detail: string | null): Promise<ProcessEnd>
}

/** Runs programs for agents in the sandbox. */
export interface ProcessHost extends AsyncDisposable {
  /**
   * Must look at everything that the request names and start nothing. Raises `ProgramNotFound`,
   * `NotExecutable`, `EnvironmentRefused`, and what looking at a path raises.
   */
  resolve(site: ProcessSite, request: ProcessRequest): Promise<ProcessFacts>

  /** Must start exactly what `resolve` finds now. Raises also `ApprovalStale`, `SandboxUnavailable`. */
  start(site: ProcessSite, request: ProcessRequest, setting: ProcessSetting): Promise<HostedProcess>

  /** Output kept in files, also of an earlier run of the service. */
  readKept(id: string, stream: ProcessStream, offset: number, limit: number): Promise<StreamPiece>

  /** Forgets the kept output. */
  forget(id: string): Promise<void>
}

export type RunProcess = Omit<ProcessRequest, 'network'> & {
  readonly stdin?: string | undefined
  readonly timeout_seconds: number
  readonly background: boolean
  readonly memory_limit_bytes?: number | undefined
  readonly cpu_limit?: number | undefined
  readonly max_output_bytes: number
}

export type RanProcess = {
  readonly process_id: string
  readonly state: ProcessState
  readonly exit_code: number | null
  readonly signal: string | null
  readonly stdout: string
  readonly stderr: string
  readonly truncated: boolean
  readonly duration_ms: number
  readonly resource_usage: {
    readonly cpu_ms: number | null
    readonly memory_bytes_max: number | null
  }
}

/** Range of a log that is asked for; without an offset, its end. */
export type LogRequest = {
  readonly process_id: string
  readonly stream: ProcessStream
  readonly offset?: number | undefined
  readonly limit: number
}

/** An agent's own processes; those of others do not exist for it. Raises `ProcessNotFound`, `QuotaExceeded`. */
export interface AgentProcesses {
  resolve(request: Omit<ProcessRequest, 'network'>): Promise<ProcessFacts>
  launch(asked: RunProcess): Promise<RanProcess>
  list(filter: {
    readonly state?: ProcessState | undefined
    readonly limit: number
    readonly offset: number
  }): Promise<{ readonly processes: readonly Process[]; readonly total: number }>
  monitor(id: string): Promise<{ readonly process: Process; readonly now: ProcessSample | null }>
  logs(request: LogRequest): Promise<ProcessLog>
  kill(id: string, how: KillProcess): Promise<KilledProcess>
}
