import {
  type CatalogProblem,
  type CatalogState,
  type CatalogStatus,
  GatehouseError,
} from '@gatehouse/contract'
import { builtInModels } from '../../domain/models/built-in.ts'
import { type Merged, mergeModels } from '../../domain/models/merge-models.ts'
import { parseCatalog } from '../../domain/models/parse-catalog.ts'
import type { CatalogSource, FetchedCatalog } from '../../ports/models.ts'
import { actDraft } from '../call/audit-draft.ts'
import type { Basics } from '../call/basics.ts'
import { type Op, systemOp } from '../call/op.ts'
import { PollLoop } from '../call/poll-loop.ts'

export type CatalogDeps = Pick<Basics, 'auditLog' | 'clock' | 'ids' | 'log'> & {
  readonly source: CatalogSource
  readonly settings: { readonly 'catalog.refresh': number }
  readonly signal: AbortSignal
}

const againMs = 15 * 60_000
/** How long a first look waits for a catalog that was never here. */
const firstLookMs = 5_000
const iso = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString())

/** Offer of models: the built-in ones, and those of the catalog as it was last fetched. */
export class ModelCatalog {
  readonly #deps: CatalogDeps
  readonly #polling: PollLoop
  #kept: FetchedCatalog | null = null
  #merged: Merged = mergeModels(builtInModels, [])
  #refusal: string | null = null
  /** Why the last attempt to fetch failed; null after one that did not. */
  #failure: string | null = null
  #checkedMs: number | null = null
  #isDue = true
  #loaded: Promise<void> | null = null
  #fetching: Promise<void> | null = null
  #looked: Promise<void> | null = null

  constructor(deps: CatalogDeps) {
    this.#deps = deps
    this.#polling = new PollLoop(deps, {
      name: 'keeping the catalog fresh',
      everyMs: againMs,
      look: () => this.#keepFresh(),
    })
  }

  /** Waits a little for the first fetch where nothing was ever kept: until then there is nothing to show. */
  async offered(): Promise<Merged['models']> {
    await this.#firstLook()
    return this.#merged.models
  }

  async state(): Promise<CatalogState> {
    await this.#firstLook()
    return this.look()
  }

  /** The same, as it stands at this moment. */
  look(): CatalogState {
    return {
      status: this.#status(),
      url: this.#deps.source.url,
      fetched_at: iso(this.#kept?.fetched_ms ?? null),
      checked_at: iso(this.#checkedMs),
      reason: this.#refusal ?? this.#failure ?? this.#pending(),
      dropped: this.#refusal === null ? [...this.#merged.dropped] : [],
    }
  }

  /** Asks now. What fails is told in the state, not thrown. */
  async refresh(op: Op): Promise<CatalogState> {
    const { source, auditLog } = this.#deps
    if (source.url === null)
      throw new GatehouseError('CatalogUnavailable', { detail: 'catalog.url is not set' })
    await this.#ready()
    // A request that is on its way may have its answer already: older than what was asked for.
    await this.#fetching
    await this.#fetch()
    const state = this.look()
    const facts = { url: source.url, status: state.status, dropped: state.dropped.length }
    const result = state.status === 'current' ? 'success' : 'error'
    await auditLog.append(actDraft(op, 'catalog.refreshed', { arguments: facts, result }))
    return state
  }

  start(): void {
    if (this.#deps.source.url !== null) this.#polling.start()
  }

  stopped(): Promise<void> {
    return this.#polling.stopped()
  }

  #status(): CatalogStatus {
    if (this.#deps.source.url === null) return 'not_configured'
    if (this.#refusal !== null) return 'refused'
    if (this.#kept === null) return 'unavailable'
    return this.#failure === null ? 'current' : 'cached'
  }

  #pending(): string | null {
    const isPending = this.#status() === 'unavailable' && this.#checkedMs === null
    return isPending ? 'it has not been fetched yet' : null
  }

  /** Once for all: whoever comes later finds what there is. */
  #firstLook(): Promise<void> {
    this.#looked ??= this.#waitALittle()
    return this.#looked
  }

  async #waitALittle(): Promise<void> {
    const { clock } = this.#deps
    const seen = new AbortController()
    const ready = this.#ready().finally(() => seen.abort())
    await Promise.race([ready, clock.sleep(firstLookMs, seen.signal)])
  }

  #ready(): Promise<void> {
    this.#loaded ??= this.#load()
    return this.#loaded
  }

  async #load(): Promise<void> {
    const { source } = this.#deps
    if (source.url === null) return
    const kept = await source.kept().catch((err: unknown) => {
      this.#deps.log.warn({ err }, 'the kept catalog could not be read')
      return null
    })
    if (kept) this.#take(kept)
    else await this.#fetch()
  }

  /** One at a time: whoever asks meanwhile gets the same answer. */
  #fetch(): Promise<void> {
    this.#fetching ??= this.#ask().finally(() => {
      this.#fetching = null
    })
    return this.#fetching
  }

  async #ask(): Promise<void> {
    const { source, clock, log, signal } = this.#deps
    this.#isDue = false
    try {
      const answer = await source.fetch(this.#kept?.etag ?? null, signal)
      const [fetched_ms, before] = [clock.wall(), this.#kept]
      const next = answer ? { ...answer, fetched_ms } : before && { ...before, fetched_ms }
      this.#checkedMs = fetched_ms
      this.#failure = null
      if (!next) return
      if (answer) this.#take(next)
      else this.#kept = next
      // The same rules read it again at the next start: a broken one stays refused without the network.
      await source.keep(next)
      if (answer && !isSame(before, next)) await this.#recordChange()
    } catch (cause) {
      if (signal.aborted) return
      this.#checkedMs = clock.wall()
      this.#failure = cause instanceof GatehouseError ? cause.message : 'it could not be kept'
      log.warn({ err: cause, url: source.url }, 'the catalog of models could not be fetched')
    }
  }

  /** Records a change of the offer that nobody here made. */
  async #recordChange(): Promise<void> {
    const { source, auditLog } = this.#deps
    const op = systemOp(this.#deps)
    const models = this.#merged.models.filter((model) => model.source === 'catalog').length
    const facts = { url: source.url, models, dropped: this.#merged.dropped.length }
    const reason = this.#refusal === null ? {} : { reason: this.#refusal }
    const result = this.#refusal === null ? 'success' : 'error'
    await auditLog.append(
      actDraft(op, 'catalog.changed', { arguments: { ...facts, ...reason }, result }),
    )
  }

  /** @SECURITY One structural fault and nothing of the file counts; test/models/catalog.test.ts fails without it. */
  #take(kept: FetchedCatalog): void {
    const reading = parseCatalog(kept.bytes)
    this.#kept = kept
    this.#merged = mergeModels(builtInModels, reading.kind === 'read' ? reading.entries : [])
    const fault = reading.problems.find(({ kind }) => kind === 'structural')
    this.#refusal = reading.kind === 'read' ? null : reasonOf(fault)
    for (const { id, index, reason } of this.#merged.dropped)
      this.#deps.log.warn({ id, index, reason }, 'an entry of the catalog was dropped')
    if (this.#refusal !== null)
      this.#deps.log.warn({ reason: this.#refusal }, 'the catalog was refused')
  }

  /** Asks at each start, which costs little where nothing changed, and then as often as configured. */
  async #keepFresh(): Promise<number> {
    await this.#ready()
    if (this.#isDue) await this.#fetch()
    this.#isDue = true
    const refreshMs = this.#deps.settings['catalog.refresh']
    return this.#failure === null ? refreshMs : Math.min(againMs, refreshMs)
  }
}

const isSame = (before: FetchedCatalog | null, next: FetchedCatalog): boolean =>
  before !== null &&
  before.bytes.length === next.bytes.length &&
  before.bytes.every((byte, i) => byte === next.bytes[i])

const reasonOf = (fault: CatalogProblem | undefined): string => {
  if (!fault) return 'the file is broken'
  const entry = fault.index === null ? 'the file' : `entry ${fault.index}`
  const named = fault.id === null ? entry : `${entry} (${fault.id})`
  return [named, fault.field, fault.reason].filter((part) => part !== null).join(': ')
}
