import { GatehouseError } from '@gatehouse/contract'
import { gradeFit } from '../../domain/models/fit.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Engine, EngineHost } from '../../ports/engine.ts'
import type { Log } from '../../ports/log.ts'
import type { InstalledModel } from '../../ports/models.ts'
import type { Op } from '../call/op.ts'
import type { ModelRecords } from './model-records.ts'

export type KeeperDeps = {
  readonly host: EngineHost
  readonly records: ModelRecords
  readonly clock: Clock
  readonly log: Log
  readonly idleMs: number
  /** Hears that what is loaded, or being loaded, is another. */
  readonly changed: () => void
  readonly op: () => Op
}

type Loaded = {
  readonly model: InstalledModel
  readonly engine: Engine
  readonly startedMs: number
}
type Loading = {
  readonly model: InstalledModel
  readonly stop: AbortController
  readonly loaded: Promise<Loaded>
}
type Now = { readonly loading: Loading | null; readonly loaded: Loaded | null }
type Rest = { readonly crashes: number; readonly againMs: number }

const MiB = 1024 * 1024
/** Beyond the estimate: a hog is stopped, an honest model never. */
const memoryOf = (needs: number): number => Math.ceil(needs * 1.25) + 256 * MiB
const [restFirstMs, restMaxMs] = [1_000, 60_000]
/** After a call that was cancelled, until an engine that does not say that it is idle is taken for one that hangs. */
const idleWithinMs = 5_000
const stopped = 'it was stopped by an operator'
const probeTask = {
  kind: 'complete',
  prompt: 'Hello',
  max_tokens: 8,
  temperature: 0,
  stop: [],
} as const

const sameFile = (a: InstalledModel, b: InstalledModel): boolean => a.sha256 === b.sha256

/** The one engine there is: brought up by the first who needs it, and let go when nobody does. */
export class EngineKeeper {
  readonly #deps: KeeperDeps
  #now: Now = { loading: null, loaded: null }
  /** Engines whose end we wanted. */
  readonly #wanted = new WeakSet<Engine>()
  readonly #rests = new Map<string, Rest>()
  #idle: Disposable | null = null
  crashes = 0
  lastFailure: string | null = null

  constructor(deps: KeeperDeps) {
    this.#deps = deps
  }

  get loaded(): Loaded | null {
    return this.#now.loaded
  }

  get #loaded(): Loaded | null {
    return this.#now.loaded
  }

  set #loaded(loaded: Loaded | null) {
    this.#become({ ...this.#now, loaded })
  }

  get #loading(): Loading | null {
    return this.#now.loading
  }

  set #loading(loading: Loading | null) {
    this.#become({ ...this.#now, loading })
  }

  #become(next: Now): void {
    const was = this.#now
    this.#now = next
    if (was.loaded !== next.loaded || was.loading !== next.loading) this.#deps.changed()
  }

  /** The model that is being loaded. */
  get loading(): InstalledModel | null {
    return this.#now.loading?.model ?? null
  }

  /** Until when what ended by itself rests, of the model that ended last. */
  get againMs(): number | null {
    const nowMs = this.#deps.clock.now()
    const latest = Math.max(0, ...[...this.#rests.values()].map(({ againMs }) => againMs))
    return latest > nowMs ? latest : null
  }

  /**
   * Does something with the model in memory; one caller at a time. When the signal aborts, an engine that
   * does not stop working by itself is killed: the next caller gets a new one.
   */
  async use<T>(
    model: InstalledModel,
    signal: AbortSignal,
    work: (engine: Engine) => Promise<T>,
  ): Promise<T> {
    this.#disarmIdle()
    try {
      const { engine } = await this.#ensure(model, signal)
      // Loading arms it for a caller that left meanwhile; this one is here.
      this.#disarmIdle()
      try {
        const result = await work(engine)
        this.#rests.delete(model.sha256)
        return result
      } catch (cause) {
        if (this.#wanted.has(engine)) throw new GatehouseError('EngineFailed', { detail: stopped })
        if (signal.aborted && !(await engine.becomesIdle(idleWithinMs)))
          await this.#putDown(model, engine)
        throw cause
      }
    } finally {
      this.#armIdle()
    }
  }

  /** Ends it now, whatever it does. */
  async stop(): Promise<void> {
    this.#disarmIdle()
    this.#loading?.stop.abort(new GatehouseError('EngineFailed', { detail: stopped }))
    await this.#loading?.loaded.catch(() => undefined)
    await this.#end()
  }

  async #end(): Promise<void> {
    const { engine } = this.#loaded ?? {}
    this.#loaded = null
    if (!engine) return
    this.#wanted.add(engine)
    await engine.kill()
  }

  #disarmIdle(): void {
    this.#idle?.[Symbol.dispose]()
    this.#idle = null
  }

  #armIdle(): void {
    if (!this.#loaded) return
    this.#disarmIdle()
    this.#idle = this.#deps.clock.after(this.#deps.idleMs, () => {
      void this.#end().catch((cause: unknown) =>
        this.#deps.log.error({ err: cause }, 'an idle engine could not be ended'),
      )
    })
  }

  /** After a caller was gone it still worked: at a prompt without end, or at a template that is a trap. */
  async #putDown(model: InstalledModel, engine: Engine): Promise<void> {
    this.#wanted.add(engine)
    if (this.#loaded?.engine === engine) this.#loaded = null
    this.#crashed(model, 'it did not stop when it was told to, and was killed')
    await engine.kill()
  }

  #crashed(model: InstalledModel, detail: string): void {
    const crashes = (this.#rests.get(model.sha256)?.crashes ?? 0) + 1
    const restMs = Math.min(restMaxMs, restFirstMs * 2 ** (crashes - 1))
    this.#rests.set(model.sha256, { crashes, againMs: this.#deps.clock.now() + restMs })
    this.crashes += 1
    this.lastFailure = `${model.id}: ${detail}`
    this.#deps.log.warn({ model: model.id, detail }, 'the engine of local models ended')
  }

  async #ensure(model: InstalledModel, signal: AbortSignal): Promise<Loaded> {
    if (this.#loaded && sameFile(this.#loaded.model, model)) return this.#loaded
    if (this.#loading && !sameFile(this.#loading.model, model)) {
      this.#loading.stop.abort(new GatehouseError('EngineFailed', { detail: 'another model came' }))
      await this.#loading.loaded.catch(() => undefined)
    }
    if (!this.#loading) {
      await this.#assertUsable(model)
      await this.#end()
      this.#begin(model, await this.#memoryFor(model))
    }
    const { loaded } = this.#loading as unknown as Loading
    // A caller that leaves does not end the loading: the next one finds it further on.
    return new Promise((resolve, reject) => {
      const onAbort = () => reject(signal.reason as Error)
      signal.addEventListener('abort', onAbort, { once: true })
      if (signal.aborted) onAbort()
      loaded.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort))
    })
  }

  async #assertUsable(model: InstalledModel): Promise<void> {
    const { records, clock } = this.#deps
    const { id } = model
    const quarantine = await records.quarantine(model)
    if (quarantine) throw new GatehouseError('ModelQuarantined', { id, reason: quarantine.reason })
    const restMs = (this.#rests.get(model.sha256)?.againMs ?? 0) - clock.now()
    if (restMs <= 0) return
    const seconds = Math.ceil(restMs / 1000)
    throw new GatehouseError('EngineFailed', {
      detail: `with ${id} it ended by itself; it starts again in ${seconds} s (${this.lastFailure})`,
    })
  }

  /** Raises `ModelTooLarge`, counting what the engine that is up now will give back. */
  async #memoryFor(model: InstalledModel) {
    const { id, size_bytes, header } = model
    const freed = this.#loaded?.engine.memory_bytes ?? 0
    const available_bytes = (await this.#deps.host.availableMemory()) + freed
    const fit = gradeFit(size_bytes, header, available_bytes)
    const { needs_bytes, context_tokens } = fit
    if (needs_bytes > available_bytes)
      throw new GatehouseError('ModelTooLarge', { id, needs_bytes, available_bytes })
    return { context_tokens, memory_bytes: memoryOf(needs_bytes) }
  }

  #begin(model: InstalledModel, order: { context_tokens: number; memory_bytes: number }): void {
    const stop = new AbortController()
    const loaded = this.#load(model, order, stop.signal).finally(() => {
      this.#loading = null
    })
    loaded.catch(() => undefined)
    this.#loading = { model, stop, loaded }
  }

  async #load(
    model: InstalledModel,
    order: { context_tokens: number; memory_bytes: number },
    signal: AbortSignal,
  ): Promise<Loaded> {
    const { host, records, clock, op } = this.#deps
    try {
      const engine = await host.start({ model, ...order }, signal)
      try {
        await this.#tryOut(model, engine, signal)
      } catch (cause) {
        this.#wanted.add(engine)
        await engine.kill()
        throw cause
      }
      await records.forgive(model)
      const loaded = { model, engine, startedMs: clock.now() }
      this.#loaded = loaded
      this.#watch(loaded)
      this.#armIdle()
      return loaded
    } catch (cause) {
      signal.throwIfAborted()
      if (!(cause instanceof GatehouseError && cause.type === 'EngineFailed')) throw cause
      const detail = String(cause.facts['detail'])
      this.#crashed(model, detail)
      // A refusal by the engine itself harms nobody, and may be another day's fault.
      if (cause.facts['refused'] === true || !(await records.strike(op(), pick(model), detail)))
        throw cause
      throw new GatehouseError('ModelQuarantined', { id: model.id, reason: detail }, { cause })
    }
  }

  /** The first time on this machine: how fast it is, and what it takes. */
  async #tryOut(model: InstalledModel, engine: Engine, signal: AbortSignal): Promise<void> {
    const { records } = this.#deps
    if (await records.measure(model)) return
    const fromMs = performance.now()
    const { usage } = await engine.generate(probeTask, () => {}, signal)
    const seconds = Math.max(0.001, (performance.now() - fromMs) / 1000)
    await engine.becomesIdle(idleWithinMs)
    await records.measured(model, {
      tokens_per_second: Math.round((usage.completion_tokens / seconds) * 10) / 10,
      memory_bytes: engine.memory_bytes,
    })
  }

  #watch({ model, engine }: Loaded): void {
    void engine.exited.then(({ how }) => {
      if (this.#loaded?.engine === engine) this.#loaded = null
      if (!this.#wanted.has(engine)) this.#crashed(model, how)
    })
  }
}

const pick = ({ id, sha256 }: InstalledModel) => ({ id, sha256 })
