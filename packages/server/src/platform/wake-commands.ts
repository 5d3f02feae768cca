import { type ChildProcess, spawn } from 'node:child_process'
import type { Log } from '../ports/log.ts'
import type { WakeCommands } from '../ports/wakes.ts'

const outputKept = 4_096
const graceMs = 2_000

export type WakeCommandOptions = {
  /** The command of each agent, as a program and its arguments. */
  readonly commands: Readonly<Record<string, readonly string[]>>
  /** Environment variables that a command inherits. */
  readonly environment: Readonly<Record<string, string>>
  readonly folder: string
  readonly log: Log
}

const endGroup = ({ pid }: ChildProcess, signal: NodeJS.Signals): void => {
  try {
    if (pid !== undefined) process.kill(-pid, signal)
  } catch {
    // The command has ended meanwhile.
  }
}

type Running = { readonly child: ChildProcess; readonly ended: Promise<unknown> }
type Command = {
  readonly program: string
  readonly args: readonly string[]
  readonly wakeId: string
}
type Waiting = { readonly wakeId: string; readonly stillWanted: () => Promise<boolean> }

/** First politely; what is left of their groups is killed. */
const endAll = async (left: readonly Running[]): Promise<void> => {
  const signalAll = (signal: NodeJS.Signals) => {
    for (const { child } of left) endGroup(child, signal)
  }
  signalAll('SIGTERM')
  const late = setTimeout(() => signalAll('SIGKILL'), graceMs)
  await Promise.all(left.map(({ ended }) => ended))
  clearTimeout(late)
  // Programs that the command left running in its group end too.
  signalAll('SIGKILL')
}

const spawnFor = (
  { environment, folder }: WakeCommandOptions,
  agent: string,
  { program, args, wakeId }: Command,
): ChildProcess =>
  spawn(program, args, {
    cwd: folder,
    env: { ...environment, GATEHOUSE_AGENT: agent, GATEHOUSE_WAKE_ID: wakeId },
    stdio: ['ignore', 'pipe', 'pipe'],
    shell: false,
    // A group of its own, so that what it starts ends with it.
    detached: true,
  })

/**
 * Starts what an operator wrote down for an agent's wakes: one at a time for each agent, and once more for the
 * newest wake that came while it ran, without a shell, ended with the service. What the wake said is not handed
 * over: it comes from anybody on this machine, and the agent reads it through the gate.
 */
export const createWakeCommands = (options: WakeCommandOptions): WakeCommands => {
  const { commands, log } = options
  const running = new Map<string, Running>()
  const waiting = new Map<string, Waiting>()
  let closed = false

  const launch = (agent: string, command: Command): void => {
    const { program } = command
    const child = spawnFor(options, agent, command)
    let output = ''
    const keep = (chunk: Buffer) => {
      output = (output + chunk.toString('utf8')).slice(-outputKept)
    }
    child.stdout?.on('data', keep)
    child.stderr?.on('data', keep)
    child.once('error', (cause) => {
      running.delete(agent)
      // A start for the wakes since then would fail too, and so on without an end.
      waiting.delete(agent)
      log.error({ err: cause, agent, command: program }, 'the on_wake command could not be started')
    })
    child.once('exit', (code, signal) => {
      running.delete(agent)
      log.info({ agent, command: program, code, signal, output }, 'the on_wake command ended')
      void startAgain(agent)
    })
    const ended = new Promise((resolve) => {
      child.once('exit', resolve)
      child.once('error', resolve)
    })
    running.set(agent, { child, ended })
  }

  const start: WakeCommands['start'] = (agent, wakeId, stillWanted) => {
    const [program, ...args] = Object.hasOwn(commands, agent) ? (commands[agent] ?? []) : []
    if (program === undefined || closed) return 'none'
    if (running.has(agent)) {
      waiting.set(agent, { wakeId, stillWanted })
      return 'running'
    }
    try {
      launch(agent, { program, args, wakeId })
      return 'started'
    } catch (cause) {
      log.error({ err: cause, agent, command: program }, 'the on_wake command could not be started')
      return 'none'
    }
  }

  /** Wakes that the program did not look for any more before it ended are in the next one's briefing. */
  const startAgain = async (agent: string): Promise<void> => {
    const next = waiting.get(agent)
    waiting.delete(agent)
    if (!next || !(await next.stillWanted())) return
    // One that a later wake started meanwhile learns of this wake too.
    if (!running.has(agent)) start(agent, next.wakeId, next.stillWanted)
  }

  return {
    start,

    async [Symbol.asyncDispose]() {
      closed = true
      await endAll([...running.values()])
    },
  }
}
