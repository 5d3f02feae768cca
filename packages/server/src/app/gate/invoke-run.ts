import { GatehouseError } from '@gatehouse/contract'
import { jsonBytesMax } from '../../domain/arguments.ts'
import type { Awaitable } from '../../domain/awaitable.ts'
import { failureOf } from '../../domain/failure.ts'
import type { Capability } from '../../ports/capability.ts'
import type { Log } from '../../ports/log.ts'
import type { Secrets } from '../../ports/secrets.ts'
import type { SessionTable } from '../agents/session-table.ts'
import type { Call, RoomyCall } from '../call/call.ts'
import type { ContextFactory, RunOfCall } from '../call/capability-context.ts'
import { CallDeadline, type Deadlines } from '../call/deadlines.ts'
import type { InvokeOutcome } from '../call/invoke.ts'
import { LazyAbort } from '../call/lazy-abort.ts'
import { memoryWithin } from '../call/result-bytes.ts'

export type RunDeps = {
  readonly contexts: ContextFactory
  readonly deadlines: Deadlines
  readonly log: Log
  readonly secrets: Pick<Secrets, 'scrub'>
  readonly sessions: Pick<SessionTable, 'hold'>
}

/** Run of a call: what it comes to, and what is recorded beside that. */
export type RunResult = {
  readonly outcome: Extract<InvokeOutcome, { readonly kind: 'succeeded' | 'failed' }>
  readonly noted: Noted
  /** Failure of ours, to be answered as one after it is recorded. */
  readonly fault: GatehouseError | null
}

/** Facts about the run that the capability wants in the log. */
type Noted = Readonly<Record<string, unknown>> | null

const faults = new Set([
  'InternalError',
  'AuditUnavailable',
  'StorageUnavailable',
  'PolicyUnavailable',
])

const failed = (error: GatehouseError, noted: Noted): RunResult => ({
  outcome: { kind: 'failed', error: failureOf(error) },
  noted,
  fault: faults.has(error.type) ? error : null,
})

/** Raises `ResultTooLarge`. Returns about how many bytes of memory the result takes. */
const measure = (
  { result_bytes_max: limit_bytes }: Capability,
  data: Readonly<Record<string, unknown>>,
): number => {
  const bound = jsonBytesMax(data)
  if (bound > limit_bytes) {
    const size_bytes = Buffer.byteLength(JSON.stringify(data))
    if (size_bytes > limit_bytes)
      throw new GatehouseError('ResultTooLarge', { size_bytes, limit_bytes })
  }
  return memoryWithin(bound)
}

/** @SECURITY Records, answers and events of a call take its result from here only; canaries.test.ts. */
const scrubbed = ({ secrets }: RunDeps, { outcome, noted, fault }: RunResult): RunResult => {
  if (outcome.kind === 'failed') {
    const error = secrets.scrub(outcome.error)
    return { outcome: { kind: 'failed', error }, noted: secrets.scrub(noted), fault }
  }
  const { kind, capability } = outcome
  const data = secrets.scrub(outcome.data)
  // The text is made anew of what is left: what it says of sizes and the like stays true of it.
  const text = data === outcome.data || !capability.text ? outcome.text : capability.text(data)
  return {
    outcome: { kind, capability, data, text: secrets.scrub(text) },
    noted: secrets.scrub(noted),
    fault,
  }
}

/** Run of one call, between gate and capability. */
class CallRun implements RunOfCall, Disposable {
  readonly deadline = new LazyAbort()
  readonly timer: CallDeadline
  facts: Noted = null
  readonly #sessions: RunDeps['sessions']
  readonly #op: Call['op']
  #follow: (() => void) | null = null

  constructor({ deadlines, sessions }: RunDeps, { op }: Call) {
    this.timer = new CallDeadline(deadlines)
    this.#sessions = sessions
    this.#op = op
  }

  /** Followed by hand: `AbortSignal.any` takes three times as much of a processor. */
  get signal(): AbortSignal {
    if (this.#follow === null) {
      const { signal } = this.#op
      this.#follow = () => this.deadline.abort(signal.reason)
      if (signal.aborted) this.#follow()
      else signal.addEventListener('abort', this.#follow)
    }
    return this.deadline.signal
  }

  readonly noted = (facts: NonNullable<Noted>): void => {
    this.facts = { ...this.facts, ...facts }
  }

  async whileAsking<T>(ask: () => Promise<T>): Promise<T> {
    using _session = this.#sessions.hold(this.#op.session_id, this.#op.actor.name)
    return await this.timer.standStill(ask)
  }

  [Symbol.dispose](): void {
    this.timer[Symbol.dispose]()
    if (this.#follow) this.#op.signal.removeEventListener('abort', this.#follow)
  }
}

type Data = Readonly<Record<string, unknown>>

/**
 * Runs a capability within its deadline and turns whatever it does into a value, without the values of
 * secrets that were used; at once where it waits for nothing. The only place that calls `run`: who comes here
 * has passed policy, limits and, where asked for, a person.
 */
export function runCapability(deps: RunDeps, call: RoomyCall): Awaitable<RunResult> {
  const { capability, args } = call
  const run = new CallRun(deps, call)
  try {
    const data = capability.run(deps.contexts.create(call, run), args as never)
    if (data instanceof Promise) return runLater(deps, call, run, data)
    run[Symbol.dispose]()
    return ended(deps, call, run, data)
  } catch (cause) {
    run[Symbol.dispose]()
    return broken(deps, call, run, cause)
  }
}

async function runLater(
  deps: RunDeps,
  call: RoomyCall,
  run: CallRun,
  running: Promise<Data>,
): Promise<RunResult> {
  try {
    return ended(deps, call, run, await inTime(call, run, running))
  } catch (cause) {
    return broken(deps, call, run, cause)
  } finally {
    run[Symbol.dispose]()
  }
}

/** Raises `DeadlineExceeded` when it takes too long, and tells the run. */
const inTime = ({ capability, args }: Call, run: CallRun, running: Promise<Data>): Promise<Data> =>
  new Promise((resolve, reject) => {
    const timeout_seconds = capability.deadline?.(args as never) ?? capability.timeout_seconds
    run.timer.begin(timeout_seconds * 1000, () => {
      const facts = { capability: capability.name, timeout_seconds }
      const error = new GatehouseError('DeadlineExceeded', facts)
      run.deadline.abort(error)
      reject(error)
    })
    running.then(resolve, reject)
  })

const ended = (deps: RunDeps, call: RoomyCall, { facts }: CallRun, data: Data): RunResult => {
  const { capability, room } = call
  const bytes = measure(capability, data)
  const text = capability.text ? capability.text(data) : null
  room.made(bytes)
  return scrubbed(deps, {
    outcome: { kind: 'succeeded', capability, data, text },
    noted: facts,
    fault: null,
  })
}

const broken = (deps: RunDeps, call: RoomyCall, { facts }: CallRun, cause: unknown): RunResult => {
  call.room.made(0)
  return scrubbed(deps, failed(faultOf(deps, call, cause), facts))
}

/** Failure that a capability raised, in words: anything but an error of ours is a fault of ours. */
const faultOf = (
  { log }: RunDeps,
  { op, capability, approval_id }: Call,
  cause: unknown,
): GatehouseError => {
  // A port knows what has changed, and not for which request it was asked.
  if (cause instanceof GatehouseError && cause.type === 'ApprovalStale' && approval_id)
    return new GatehouseError('ApprovalStale', { ...cause.facts, approval_id }, { cause })
  if (cause instanceof GatehouseError) return cause
  if (op.signal.aborted) return new GatehouseError('Cancelled', {}, { cause })
  const correlation_id = op.request_id
  log.error(
    { err: cause, correlation_id, capability: capability.name },
    'a capability failed unexpectedly',
  )
  return new GatehouseError('InternalError', { correlation_id }, { cause })
}
