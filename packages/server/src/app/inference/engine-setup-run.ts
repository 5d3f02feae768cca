import { type EngineSetup, GatehouseError } from '@gatehouse/contract'
import { failureOf } from '../../domain/failure.ts'
import type { EngineInstaller } from '../../ports/engine.ts'
import { actDraft } from '../call/audit-draft.ts'
import type { Basics } from '../call/basics.ts'
import type { Op } from '../call/op.ts'

type Deps = Pick<Basics, 'auditLog' | 'clock' | 'log'> & {
  readonly installer: EngineInstaller
  /** Hears of each step. */
  readonly changed: () => void
  readonly signal: AbortSignal
}

const none: EngineSetup = {
  status: 'none',
  packages_done: 0,
  packages_total: 0,
  error: null,
  started_at: null,
  finished_at: null,
}

/** The installation of the engine: one at a time, behind the answer. */
export class EngineSetupRun {
  readonly #deps: Deps
  #state: EngineSetup = none
  /** Look at what is installed already, until an installation runs. */
  #beginning: Promise<EngineSetup> | null = null
  #running: Promise<void> = Promise.resolve()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  get state(): EngineSetup {
    return this.#state
  }

  /** Joins the one that runs; one that is installed already is done at once. */
  async begin(op: Op): Promise<EngineSetup> {
    if (this.#state.status === 'running') return this.#state
    // Two installations at once would remove each other's folder.
    this.#beginning ??= this.#begin(op).finally(() => {
      this.#beginning = null
    })
    return this.#beginning
  }

  async stopped(): Promise<void> {
    await this.#beginning?.catch(() => undefined)
    await this.#running
  }

  async #begin(op: Op): Promise<EngineSetup> {
    const { installed, version } = await this.#deps.installer.state()
    const started_at = this.#now()
    if (installed) {
      this.#state = { ...none, status: 'done', started_at, finished_at: started_at }
      return this.#state
    }
    this.#state = { ...none, status: 'running', started_at }
    this.#running = this.#run(op, version)
    return this.#state
  }

  async #run(op: Op, version: string): Promise<void> {
    const { installer, auditLog, signal, log, changed } = this.#deps
    let error: EngineSetup['error'] = null
    try {
      await installer.install((packages_done, packages_total) => {
        this.#state = { ...this.#state, packages_done, packages_total }
        changed()
      }, signal)
    } catch (cause) {
      const known =
        cause instanceof GatehouseError
          ? cause
          : new GatehouseError('EngineSetupFailed', { detail: 'see the log of the service' })
      error = failureOf(known)
      log.warn({ err: cause }, 'the engine of local models could not be installed')
    }
    try {
      await auditLog.transaction(async (tx) => {
        const result = error === null ? ('success' as const) : ('error' as const)
        const facts = { version, ...(error ? { error: error.message } : {}) }
        tx.append(actDraft(op, 'engine.installed', { arguments: facts, result }))
      })
    } catch (cause) {
      log.error({ err: cause }, 'the installation of the engine could not be recorded')
    }
    const status = error === null ? 'done' : 'failed'
    this.#state = { ...this.#state, status, error, finished_at: this.#now() }
    changed()
  }

  #now(): string {
    return new Date(this.#deps.clock.wall()).toISOString()
  }
}
