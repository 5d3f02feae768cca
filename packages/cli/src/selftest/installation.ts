import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { patientFetch } from './patient-fetch.ts'

/** How the product is started: as a person would. */
export type Program = {
  readonly command: readonly [node: string, file: string]
  readonly environment: Readonly<Record<string, string | undefined>>
}

export type Run = {
  readonly pid: number
  readonly version: string
  readonly gateway_url: string
  readonly mcp_url: string
  readonly user_api_url: string
  readonly wake_port: number
  readonly dashboard_url: string
}

export type CliResult = { readonly code: number; readonly stdout: string; readonly stderr: string }

/** The exit code of a command that found no service, before it asked it anything. */
const notReachable = 3
const triesMax = 10
/** Far longer than a service takes to stop, also on a very busy machine. */
const endsWithinMs = 180_000

/** A data directory of its own, and the real command working on it. */
export class Installation implements AsyncDisposable {
  readonly dataDir: string
  /** Flags of Node for the server. */
  nodeFlags: readonly string[] = []
  #child: ChildProcess | null = null
  /** Output of the last server. */
  output = ''

  readonly #program: Program

  constructor(program: Program, dataDir = mkdtempSync(join(tmpdir(), 'gatehouse-e2e-'))) {
    this.#program = program
    this.dataDir = dataDir
  }

  /** Starts the server and resolves when run.json says where it listens. */
  async start(flags: readonly string[] = [], { closed = false } = {}): Promise<Run> {
    const ports = [
      '--gateway-port',
      '0',
      '--user-api-port',
      '0',
      '--dashboard-port',
      '0',
      '--wake-port',
      '0',
    ]
    const [node, file] = this.#program.command
    const child = spawn(
      node,
      [...this.nodeFlags, file, 'serve', '--data-dir', this.dataDir, ...ports, ...flags],
      {
        stdio: ['ignore', 'pipe', 'pipe'],
        env: { ...this.#program.environment, NO_COLOR: '1' },
      },
    )
    this.#child = child
    this.output = ''
    if (closed) this.closeOutput()
    child.stdout.on('data', (chunk) => {
      this.output += chunk
    })
    child.stderr.on('data', (chunk) => {
      this.output += chunk
    })
    for (let tries = 0; tries < 4_800; tries += 1) {
      if (child.exitCode !== null)
        throw new Error(`the server ended with ${child.exitCode}: ${this.output}`)
      const run = this.run
      if (run && run.pid === child.pid) return run
      await pause(25)
    }
    throw new Error(`the server did not start: ${this.output}`)
  }

  /** The reader of the server's output has gone. */
  closeOutput(): void {
    this.#child?.stdout?.destroy()
    this.#child?.stderr?.destroy()
  }

  get run(): Run | null {
    const file = join(this.dataDir, 'run.json')
    return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Run) : null
  }

  get isRunning(): boolean {
    return this.#child !== null && this.#child.exitCode === null && this.#child.signalCode === null
  }

  /** SIGKILL: no time for anything. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL')
  }

  /** SIGTERM, and the exit code. */
  async stop(): Promise<number> {
    return this.#end('SIGTERM')
  }

  async #end(signal: NodeJS.Signals): Promise<number> {
    const child = this.#child
    if (!child || child.exitCode !== null || child.signalCode !== null) return child?.exitCode ?? 0
    const exited = once(child, 'exit', { signal: AbortSignal.timeout(endsWithinMs) })
    child.kill(signal)
    await exited.catch((cause: unknown) => {
      throw new Error(`the server does not stop: ${this.output}`, { cause })
    })
    return child.exitCode ?? 0
  }

  /** Runs the command as a person would. */
  async cli(args: readonly string[], input?: string): Promise<CliResult> {
    // Before the words: behind -- it would be an argument of somebody else's program.
    const [node, file] = this.#program.command
    const child = spawn(node, [file, '--data-dir', this.dataDir, ...args], {
      stdio: ['pipe', 'pipe', 'pipe'],
      env: { ...this.#program.environment, NO_COLOR: '1' },
    })
    let stdout = ''
    let stderr = ''
    child.stdout.on('data', (chunk) => {
      stdout += chunk
    })
    child.stderr.on('data', (chunk) => {
      stderr += chunk
    })
    // A command that wants no input may have ended before it is given.
    child.stdin.on('error', () => {})
    child.stdin.end(input ?? '')
    await once(child, 'close')
    return { code: child.exitCode ?? -1, stdout, stderr }
  }

  /** Tried again where the command did not reach the service, which a very busy machine keeps from answering in time. */
  async json<T>(args: readonly string[]): Promise<T> {
    let ran = await this.cli(['--json', ...args])
    for (let tries = 1; ran.code === notReachable && tries < triesMax && this.isRunning; tries += 1)
      ran = await this.cli(['--json', ...args])
    const { code, stdout, stderr } = ran
    if (code !== 0)
      throw new Error(`gatehouse ${args.join(' ')} ended with ${code}: ${stderr}${stdout}`)
    return JSON.parse(stdout) as T
  }

  async createAgent(
    name: string,
    flags: readonly string[] = [],
  ): Promise<{ token: string; workspace: string }> {
    const made = await this.json<{ agent: { workspace: string }; token: string }>([
      'agent',
      'create',
      name,
      ...flags,
    ])
    return { token: made.token, workspace: made.agent.workspace }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill()
    rmSync(this.dataDir, { recursive: true, force: true })
  }
}

export const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, ms))

type RpcAnswer = {
  readonly id: unknown
  readonly result?: {
    readonly success?: boolean
    readonly data?: Record<string, unknown>
    readonly error?: { readonly type: string }
  } & Record<string, unknown>
  readonly error?: {
    readonly code: number
    readonly message: string
    readonly data?: Record<string, unknown>
  }
}

/** One JSON-RPC request, as curl would send it. */
const rpcOnce = async (
  run: Run,
  token: string,
  method: string,
  params: object = {},
): Promise<RpcAnswer> => {
  const response = await patientFetch(`${run.gateway_url}/rpc`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  return (await response.json()) as RpcAnswer
}

/** A call as a program that takes each answer for the last one sends it: for loads, and for tests of what is shed. */
export const invokeOnce = (
  run: Run,
  token: string,
  capability: string,
  args: object = {},
): Promise<RpcAnswer> => rpcOnce(run, token, 'capabilities.invoke', { capability, arguments: args })

export type Sheddable = { readonly error?: { readonly data?: Record<string, unknown> } }

/** Seconds after which a caller may come back that a service with too many calls on a busy machine refused; null for others. */
export const shedForSeconds = ({ error }: Sheddable): number | null => {
  const data = error?.data ?? {}
  const isShed = data['reason'] === 'overloaded' && data['limit'] === 0
  return isShed ? Number(data['retry_after_seconds']) : null
}

/** Answer to a request that is made again as long as it is refused for a time. What was refused has done nothing. */
export const untilAccepted = async <A>(
  ask: () => Promise<A>,
  refusedForSeconds: (answer: A) => number | null,
): Promise<A> => {
  for (;;) {
    const answer = await ask()
    const seconds = refusedForSeconds(answer)
    if (seconds === null) return answer
    await pause(seconds * 1_000)
  }
}

export const untilTaken = <A extends Sheddable>(ask: () => Promise<A>): Promise<A> =>
  untilAccepted(ask, shedForSeconds)

export const rpc: typeof rpcOnce = (...request) => untilTaken(() => rpcOnce(...request))
export const invoke: typeof invokeOnce = (...call) => untilTaken(() => invokeOnce(...call))
