import { type ChildProcess, fork } from 'node:child_process'
import type { Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import { GatehouseError } from '@gatehouse/contract'
import { describeSystemFailure } from '../domain/system-failure.ts'
import type { GateQuestion } from '../ports/gates.ts'
import type { Log } from '../ports/log.ts'
import { type Envelope, GateLink, gateName } from './gate-link.ts'
import type { FromGate, GateBegin, ToGate } from './gate-messages.ts'

type Shared = Omit<GateBegin, 'index' | 'count'>

type Parts = {
  readonly count: number
  /** The program of a gate process. */
  readonly program: URL
  readonly log: Log
}

/** Waits between an end and the next start, longer from one to the next. */
const againMs = [200, 1_000, 5_000] as const
/** One that lived as long begins with the shortest wait again. */
const soundMs = 60_000
/** How long one that is asked to stop may take, beyond what its calls are given. */
const stopMs = 15_000

const refusalOf = (
  { from, id }: Extract<Envelope, { kind: 'question' }>,
  index: number,
  fault: string | null,
): Envelope => ({
  ...{ from: index, to: from, id, kind: 'failure', type: 'StorageUnavailable' },
  facts: { detail: `${gateName(index)} does not serve: ${fault}` },
})

/** Changes that a process has to follow that has looked already and does not serve yet. */
const whileStarting: ReadonlySet<GateQuestion> = new Set(['read policy', 'lock vault'])

/** Questions of calls, which rather wait a moment for a process that starts than fail; whoever asks gives up by itself. */
const worthWaiting: ReadonlySet<GateQuestion> = new Set(['take', 'used'])
const heldMax = 1_000

/** A gate process that this one started. */
class Gate {
  readonly index: number
  readonly #parts: Parts
  readonly #shared: Shared
  readonly #link: GateLink
  readonly #relay: (envelope: Envelope) => void
  readonly #lost: (index: number) => void
  #child: ChildProcess | null = null
  #isReady = false
  #stopping = false
  #ends = 0
  #again: NodeJS.Timeout | null = null
  readonly #held: Envelope[] = []
  /** Why it could not start the last time; null where it did, or ended without a word. */
  #refusal: string | null = null
  /** Why it does not serve; null while it does. */
  fault: string | null = 'it is starting'

  constructor(
    index: number,
    parts: Parts,
    shared: Shared,
    link: GateLink,
    relay: (envelope: Envelope) => void,
    lost: (index: number) => void,
  ) {
    this.index = index
    this.#parts = parts
    this.#shared = shared
    this.#link = link
    this.#relay = relay
    this.#lost = lost
  }

  get isReady(): boolean {
    return this.#isReady
  }

  /** Resolves when it serves. Raises why it could not start. */
  start(): Promise<void> {
    const startedMs = performance.now()
    this.#refusal = null
    return new Promise((resolve, reject) => {
      const ended = (how: string, cause?: unknown): void => {
        const detail = `${gateName(this.index)} ${how}`
        reject(new GatehouseError('StorageUnavailable', { detail }, { cause }))
        this.#ended(startedMs, how)
      }
      const neverBegan = (cause: unknown): void =>
        ended(`cannot be started: ${describeSystemFailure(cause)}`, cause)
      let child: ChildProcess
      try {
        child = this.#fork()
      } catch (cause) {
        return neverBegan(cause)
      }
      const hasBegun = child.pid !== undefined
      child.on('error', (cause) => {
        if (!hasBegun) neverBegan(cause)
      })
      // One that was never started does not exit, and may have no channel.
      if (!hasBegun) return
      this.#child = child
      child.on('message', (message: FromGate) => {
        if (message.kind === 'envelope') return this.#relay(message.envelope)
        if (message.kind === 'failed') {
          const cause = new GatehouseError(message.type, message.facts)
          this.#refusal = cause.message
          return reject(cause)
        }
        this.#isReady = true
        this.fault = null
        this.#link.found(this.index)
        for (const envelope of this.#held.splice(0)) this.#post({ kind: 'envelope', envelope })
        resolve()
      })
      child.once('exit', (code, signal) => ended(`ended with ${signal ?? code}`))
      const { index } = this
      const begin: GateBegin = { ...this.#shared, index, count: this.#parts.count }
      this.#post({ kind: 'begin', begin })
    })
  }

  send(envelope: Envelope): void {
    if (envelope.kind !== 'question' || this.#isReady)
      return this.#post({ kind: 'envelope', envelope })
    const { question } = envelope
    if (this.#child && whileStarting.has(question)) this.#post({ kind: 'envelope', envelope })
    else if (worthWaiting.has(question) && !this.#stopping && this.#held.length < heldMax)
      this.#held.push(envelope)
    else this.#relay(refusalOf(envelope, this.index, this.fault))
  }

  tellLost(index: number): void {
    this.#post({ kind: 'lost', index })
  }

  /** Gives a connection away. Whether there was somebody to take it. */
  hand(socket: Socket, head: Buffer): boolean {
    if (!this.#isReady || !this.#child?.connected) return false
    const message: ToGate = { kind: 'connection', head }
    this.#child.send(message, socket, { keepOpen: false }, (error) => {
      if (error) socket.destroy()
    })
    return true
  }

  async stop(): Promise<void> {
    this.#stopping = true
    for (const envelope of this.#held.splice(0)) this.send(envelope)
    if (this.#again) clearTimeout(this.#again)
    const child = this.#child
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    const exited = new Promise((resolve) => child.once('exit', resolve))
    this.#post({ kind: 'stop' })
    const late = setTimeout(() => child.kill('SIGKILL'), stopMs)
    await exited
    clearTimeout(late)
  }

  #post(message: ToGate): void {
    // One that just ended says so by its exit.
    this.#child?.send(message, () => {})
  }

  #fork(): ChildProcess {
    return fork(fileURLToPath(this.#parts.program), [], {
      serialization: 'advanced',
      // Output for the person who starts the service comes from the first process alone.
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    })
  }

  #ended(startedMs: number, how: string): void {
    // One that fails as it starts has answered nobody: what waits for it goes on waiting.
    if (this.#isReady) this.#lost(this.index)
    else this.#link.lost(this.index)
    this.#isReady = false
    this.#child = null
    if (this.#stopping) return
    const said = this.#refusal ? `does not start: ${this.#refusal}` : how
    this.fault = `it ${said}, and is started again`
    if (performance.now() - startedMs > soundMs) this.#ends = 0
    const waitMs = againMs[Math.min(this.#ends++, againMs.length - 1)]
    const { log } = this.#parts
    log.error({ gate: this.index + 1, how }, 'a gate process is down; starting it again')
    this.#again = setTimeout(() => {
      this.start().catch((cause: unknown) => {
        log.error({ err: cause, gate: this.index + 1 }, 'a gate process does not start')
      })
    }, waitMs)
  }
}

/** The gate processes beside this one, which is the first: starts them, replaces what ends, and passes messages on. */
export class GatePool implements AsyncDisposable {
  readonly link: GateLink
  readonly #parts: Parts
  #gates: readonly Gate[] = []
  /** Messages that came before the first of them was started. */
  readonly #early: Envelope[] = []

  constructor(parts: Parts) {
    this.#parts = parts
    const send = (envelope: Envelope) => this.#pass(envelope)
    this.link = new GateLink({ index: 0, count: parts.count, send })
  }

  /** Resolves when all of them serve. Raises why one could not start. */
  async start(shared: Shared): Promise<void> {
    this.#gates = Array.from(
      { length: this.#parts.count - 1 },
      (_, at) =>
        new Gate(
          ...([at + 1, this.#parts, shared, this.link] as const),
          (one) => this.#pass(one),
          (index) => this.#lost(index),
        ),
    )
    for (const envelope of this.#early.splice(0)) this.#pass(envelope)
    await Promise.all(this.#gates.map((gate) => gate.start()))
  }

  /** Gives connections to the process that is the home of an agent; null where that is this one, or does not serve. */
  wayTo(agent: string): ((socket: Socket, head: Buffer) => boolean) | null {
    const gate = this.#gates[this.link.homeOf(agent) - 1]
    return gate?.isReady ? (socket, head) => gate.hand(socket, head) : null
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#gates.map((gate) => gate.stop()))
  }

  /** Tells all that one ended: what they asked it would wait for an answer until its time is up. */
  #lost(index: number): void {
    this.link.lost(index)
    for (const gate of this.#gates) if (gate.index !== index) gate.tellLost(index)
  }

  #pass(envelope: Envelope): void {
    const { from, to } = envelope
    if (to === 0 || (to === 'others' && from !== 0)) this.link.receive(envelope)
    if (envelope.kind === 'question' && to !== 0 && this.#gates.length === 0) {
      if (worthWaiting.has(envelope.question) && this.#early.length < heldMax)
        return void this.#early.push(envelope)
      return this.link.receive(refusalOf(envelope, Number(to), 'it is starting'))
    }
    for (const gate of this.#gates)
      if (gate.index === to || (to === 'others' && gate.index !== from)) gate.send(envelope)
  }
}
