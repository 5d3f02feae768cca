import type { ChildProcess } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { constants } from 'node:os'
import type { Duplex, Readable, Writable } from 'node:stream'
import type { SandboxBackend, SandboxChild, SandboxExit } from '../ports/sandbox.ts'
import { Channel, type LaunchOrder, type LaunchReport } from './channel.ts'
import { inputOf } from './program-input.ts'

/** After it was told to kill everything, how long the launcher inside has before it is killed itself. */
const launcherGraceMs = 500
/** The same for the outermost process where there are no namespaces: what it did not end by then, nobody would. */
const guardGraceMs = 30_000

const signalNames = new Map(
  Object.entries(constants.signals).map(([name, number]) => [number as number, name]),
)

const kill = (pid: number, signal: NodeJS.Signals): void => {
  try {
    process.kill(pid, signal)
  } catch {
    // The child has ended meanwhile.
  }
}

/** The launcher that watches the program is the only child of the outermost process. */
const childrenOf = (pid: number): readonly number[] => {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
      .split(' ')
      .flatMap((text) => {
        const child = Number(text)
        return child > 0 ? [child] : []
      })
  } catch {
    return []
  }
}

/** Without a reader Node drops what is left when the process ends; so it waits for one from the start. */
const held = (stream: Readable): Readable => stream.on('readable', () => {}).on('error', () => {})

type Started = { readonly kind: 'started' } | Extract<LaunchReport, { kind: 'failed' }>

/** A program in the sandbox: told what to do and watched by the channel to its launcher. */
export class LaunchedChild implements SandboxChild {
  readonly pid: number
  readonly backend: SandboxBackend
  readonly stdin: SandboxChild['stdin']
  readonly stdout: Readable
  readonly stderr: Readable
  readonly exited: Promise<SandboxExit>
  /** Resolves when the program runs, could not be run, or (null) everything ended before that. */
  readonly started: Promise<Started | null>
  readonly #channel: Channel
  /** Whether the launcher was killed, since it did not end all in time. */
  #cutOff = false

  /** `onGone` clears away what was made for it alone, before anybody hears that it has ended. */
  constructor(
    process: ChildProcess,
    order: LaunchOrder,
    backend: SandboxBackend = 'bubblewrap',
    onGone: () => void = () => {},
  ) {
    this.backend = backend
    const [stdin, stdout, stderr, , control] = process.stdio as unknown as [
      Writable,
      Readable,
      Readable,
      unknown,
      Duplex,
    ]
    const startedMs = performance.now()
    this.pid = process.pid as number
    this.stdin = inputOf(stdin)
    this.stdout = held(stdout)
    this.stderr = held(stderr)
    process.on('error', () => {})
    let ended: Extract<LaunchReport, { kind: 'ended' }> | null = null
    let resolveStart: (started: Started | null) => void = () => {}
    this.started = new Promise((resolve) => {
      resolveStart = resolve
    })
    this.#channel = new Channel(control, (report) => {
      if (report.kind === 'ended') ended = report
      else resolveStart(report)
    })
    const gone = new Promise<readonly [number | null, NodeJS.Signals | null]>((resolve) => {
      process.once('exit', (...how) => resolve(how))
    })
    this.exited = Promise.all([gone, this.#channel.closed]).then(([[code, signal]]) => {
      onGone()
      resolveStart(null)
      const usage = {
        duration_ms: Math.round(performance.now() - startedMs),
        cpu_ms: ended?.cpu_ms ?? null,
        memory_bytes_max: ended?.memory_bytes_max ?? null,
      }
      // A launcher that had to be killed did not live to tell how all that it watched was killed with it.
      if (ended === null)
        return this.#cutOff ? { code: null, signal: 'SIGKILL', usage } : { code, signal, usage }
      return ended.signal === 0
        ? { code: ended.code, signal: null, usage }
        : { code: null, signal: signalNames.get(ended.signal) ?? `SIG${ended.signal}`, usage }
    })
    this.#channel.order(order)
  }

  signal(name: string): void {
    const number = constants.signals[name as NodeJS.Signals]
    if (number !== undefined) this.#channel.say(`signal ${number}`)
  }

  async end(graceMs: number): Promise<SandboxExit> {
    const timers = new Set<NodeJS.Timeout>()
    const after = (ms: number, act: () => void) => timers.add(setTimeout(act, ms))
    const finish = () => {
      this.#channel.say('kill')
      after(launcherGraceMs, () => {
        this.#cutOff = true
        // First the inner launcher: the outermost waits for it, and ends all that is left.
        for (const child of childrenOf(this.pid)) kill(child, 'SIGKILL')
        after(this.backend === 'landlock' ? guardGraceMs : launcherGraceMs, () => {
          kill(-this.pid, 'SIGKILL')
          this.#channel.cut()
        })
      })
    }
    if (graceMs > 0) {
      this.signal('SIGTERM')
      after(graceMs, finish)
    } else finish()
    try {
      return await this.exited
    } finally {
      for (const timer of timers) clearTimeout(timer)
    }
  }
}
