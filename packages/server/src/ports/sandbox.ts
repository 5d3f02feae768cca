/** How strongly children are kept, strongest first. Which one holds is found by a probe, never assumed. */
export type SandboxBackend = 'bubblewrap' | 'landlock' | 'unconfined'

export type SandboxState =
  | {
      readonly usable: true
      readonly backend: SandboxBackend
      readonly detail: string
      /** Remedy that leads to a stronger sandbox, where that is wanted. */
      readonly remedy?: string
    }
  | {
      readonly usable: false
      readonly reason: string
      readonly remedy: string
      /** Set until the first probe has ended: it may hold. */
      readonly untried?: true
    }

/** A file or folder of the host that a child sees; everything else of the host is absent. */
export type SandboxMount = {
  /** Absolute path on the host, or an open descriptor of it (`/proc/self/fd/<n>` of this process). */
  readonly source: string
  /** Absolute path inside; the same as on the host where it is left out. */
  readonly target?: string
  readonly writable: boolean
}

export type SandboxLimits = {
  readonly memory_bytes: number
  readonly processes: number
  readonly cpu_seconds: number
  readonly file_bytes: number
  /** Size of `/tmp` inside. */
  readonly temporary_bytes: number
}

export type SandboxSpec = {
  /** An absolute path as seen inside, or a plain name that is looked for on the fixed PATH. Never a shell line. */
  readonly program: string
  readonly args: readonly string[]
  /** The whole environment but for PATH, HOME, TMPDIR and LANG, which are given. */
  readonly environment: Readonly<Record<string, string>>
  /** Absolute, inside one of the mounts. */
  readonly working_directory: string
  readonly mounts: readonly SandboxMount[]
  /** `libraries`: of the system no more than a program needs to load: no shell, no tools. The whole, if left out. */
  readonly system?: 'whole' | 'libraries'
  /**
   * `none`: no network but the own, empty one; with `unix_only` no sockets but Unix sockets either, as an
   * inference engine needs no more. `egress`: nothing but the CONNECT proxy that listens on this Unix socket of
   * the host, offered inside as HTTP_PROXY and HTTPS_PROXY.
   */
  readonly network:
    | { readonly kind: 'none'; readonly unix_only?: boolean }
    | { readonly kind: 'egress'; readonly socket: string }
  readonly limits: SandboxLimits
}

export type SandboxUsage = {
  readonly duration_ms: number
  readonly cpu_ms: number | null
  readonly memory_bytes_max: number | null
}

export type SandboxExit = {
  /** Null where a signal ended it. */
  readonly code: number | null
  readonly signal: string | null
  readonly usage: SandboxUsage
}

export interface SandboxChild {
  /** Of the outermost process on the host; its group holds all of them. */
  readonly pid: number
  readonly backend: SandboxBackend
  readonly stdin: { write(bytes: Uint8Array): Promise<void>; end(): void }
  /** Each can be read once; what is not read holds the child back. */
  readonly stdout: AsyncIterable<Uint8Array>
  readonly stderr: AsyncIterable<Uint8Array>
  /** Resolves when the program and everything it started are gone. Never rejects. */
  readonly exited: Promise<SandboxExit>
  /** Must reach the program itself, such as SIGINT or SIGTERM. */
  signal(name: string): void
  /** Must end everything inside: SIGTERM, then after the grace SIGKILL to the whole namespace and group. */
  end(graceMs: number): Promise<SandboxExit>
}

export type SandboxRun = {
  readonly stdin?: Uint8Array
  /** Of each stream; what is above is dropped and `truncated` says so. */
  readonly max_output_bytes: number
  readonly timeout_ms: number
}

export type SandboxResult = SandboxExit & {
  readonly backend: SandboxBackend
  readonly stdout: Uint8Array
  readonly stderr: Uint8Array
  readonly truncated: boolean
  readonly timed_out: boolean
}

/** Runs programs that are not trusted. Both ways raise `SandboxUnavailable` where no backend works. */
export interface Sandbox {
  /** Result of the last probe. */
  state(): SandboxState

  /** Must run a real program with the real argument list, and say what came of it. */
  probe(): Promise<SandboxState>

  /** Must raise what `spawn` would for want of a backend, and try again when `spawn` would. */
  ready(): Promise<void>

  spawn(spec: SandboxSpec): Promise<SandboxChild>

  /** Spawns, feeds, reads to the end, and leaves nothing behind: also when the signal aborts. */
  run(spec: SandboxSpec, run: SandboxRun, signal: AbortSignal): Promise<SandboxResult>
}
