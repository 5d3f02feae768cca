import type { ModelMeasure } from '@gatehouse/contract'
import { parseStored } from '../../domain/parse-stored.ts'
import type { InstalledModel } from '../../ports/models.ts'
import { actDraft } from '../call/audit-draft.ts'
import type { Basics } from '../call/basics.ts'
import type { Op } from '../call/op.ts'

type Deps = Pick<Basics, 'storage' | 'auditLog' | 'clock'> & { readonly node: string }
type File = Pick<InstalledModel, 'id' | 'sha256'>

/** A model that brought the engine down while it was loaded: once may be chance. */
type Strikes = { readonly count: number; readonly reason: string; readonly since_ms: number }

const strikesMax = 2

/** Records of this machine about a model file: how fast it is here, and whether it brings the engine down. */
export class ModelRecords {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Why it is not loaded any more, or null. */
  async quarantine({ sha256 }: File): Promise<{ reason: string; since: string } | null> {
    const strikes = await this.#strikes(sha256)
    if (strikes === null || strikes.count < strikesMax) return null
    return { reason: strikes.reason, since: new Date(strikes.since_ms).toISOString() }
  }

  /** Counts one more, and says whether that puts it into quarantine. */
  async strike(op: Op, model: File, detail: string): Promise<boolean> {
    const { clock, auditLog } = this.#deps
    const count = ((await this.#strikes(model.sha256))?.count ?? 0) + 1
    const reason = `it brought the engine down ${count} times while it was loaded: ${detail}`
    const strikes: Strikes = { count, reason, since_ms: clock.wall() }
    const isOut = count >= strikesMax
    await auditLog.transaction(async (tx) => {
      await tx.meta.set(this.#key('strikes', model.sha256), JSON.stringify(strikes))
      const facts = { ...model, detail }
      if (isOut) tx.append(actDraft(op, 'model.quarantined', { arguments: facts, result: 'error' }))
    })
    return isOut
  }

  /** The model was loaded, so failures that were held against it do not count. */
  async forgive(model: File): Promise<void> {
    const key = this.#key('strikes', model.sha256)
    if (await this.#deps.storage.meta.get(key)) await this.#deps.storage.meta.set(key, '')
  }

  async release(op: Op, model: File): Promise<void> {
    await this.#deps.auditLog.transaction(async (tx) => {
      await tx.meta.set(this.#key('strikes', model.sha256), '')
      tx.append(actDraft(op, 'model.released', { arguments: { ...model } }))
    })
  }

  async measure({ sha256 }: File): Promise<ModelMeasure | null> {
    const text = await this.#deps.storage.meta.get(this.#key('measure', sha256))
    return text ? parseStored<ModelMeasure>(text, `meta.${this.#key('measure', sha256)}`) : null
  }

  async measured({ sha256 }: File, measure: Omit<ModelMeasure, 'measured_at'>): Promise<void> {
    const measured_at = new Date(this.#deps.clock.wall()).toISOString()
    const text = JSON.stringify({ ...measure, measured_at })
    await this.#deps.storage.meta.set(this.#key('measure', sha256), text)
  }

  async #strikes(sha256: string): Promise<Strikes | null> {
    const text = await this.#deps.storage.meta.get(this.#key('strikes', sha256))
    return text ? parseStored<Strikes>(text, `meta.${this.#key('strikes', sha256)}`) : null
  }

  /** Of this machine: another one may have more memory, or another processor. */
  #key(what: 'strikes' | 'measure', sha256: string): string {
    return `engine.${what}.${this.#deps.node}.${sha256}`
  }
}
