import { type ActivityEvent, type ActivityPage, GatehouseError } from '@gatehouse/contract'
import { activityOf, isIntent, parsePlace, placeText } from '../../domain/activity.ts'
import type { AuditReader } from '../../ports/audit.ts'
import type { AuditRow } from '../../ports/audit-rows.ts'
import type { Basics } from '../call/basics.ts'
import { leftOut } from '../call/left-out.ts'
import type { Op } from '../call/op.ts'

type Deps = Pick<Basics, 'storage' | 'auditLog' | 'clock'> & {
  readonly audit: Pick<AuditReader, 'rows'>
}

/** How many rows are read at once, and how often the logs of other nodes are looked at. */
const rowsPerRead = 500
const otherNodesEveryMs = 2_000

/** Activity, newest first. Nothing is kept for it: each event is an entry of the audit log. */
export async function listActivity(
  deps: { readonly audit: Pick<AuditReader, 'notListed' | 'rows'> },
  input: { readonly agent?: string; readonly limit: number; readonly offset: number },
): Promise<ActivityPage> {
  const { rows, total } = await deps.audit.rows.activity(input)
  const { limit, offset } = input
  return { events: rows.map(activityOf), total, limit, offset, ...leftOut(deps.audit) }
}

/** Events with the place after the last of them: whoever comes back with it misses nothing. */
export type ActivityBatch = {
  readonly events: readonly { readonly place: string; readonly event: ActivityEvent }[]
  readonly place: string
}

function placeGiven(after: string | undefined): ReadonlyMap<string, number> | null {
  if (after === undefined) return null
  const place = parsePlace(after)
  if (place) return place
  throw new GatehouseError('InvalidRequest', { detail: 'that is no place in the activity stream' })
}

/** Where every chain ends now. */
async function endsOf(deps: Deps): Promise<Map<string, number>> {
  const ends = await deps.audit.rows.ends()
  return new Map(ends.map(({ chain, next }) => [chain, next]))
}

/**
 * Follows the log: what came after `after` (from now on without it), then what is committed. It reads the
 * log itself, in order and by number, so nothing is lost to a slow reader or a lost connection, and a
 * call pays for it no more than a flag that is set. Ends with the operation's signal.
 */
export async function* followActivity(
  op: Op,
  deps: Deps,
  input: { readonly after?: string; readonly agent?: string },
): AsyncGenerator<ActivityBatch> {
  const from = placeGiven(input.after)
  const news = new News(op.signal)
  using _listening = deps.auditLog.onCommit(() => news.tell())
  using _elsewhere = deps.storage.onForeignChange('audit', () => news.tell())
  const ends = await endsOf(deps)
  const place = new Map<string, number>()
  // A place beyond the end is of a log that was since restored from a copy: go on from its end.
  for (const [chain, end] of ends)
    place.set(chain, from ? Math.min(from.get(chain) ?? 0, end) : end)
  yield { events: [], place: textOf(place) }
  for (let chains = [...ends.keys()]; !op.signal.aborted; ) {
    news.taken()
    let full = false
    for (const chain of chains) {
      const next = place.get(chain) ?? 0
      const rows = await deps.audit.rows.range(chain, next, Number.MAX_SAFE_INTEGER, rowsPerRead)
      full ||= rows.length === rowsPerRead
      const events = eventsOf(rows, place, input.agent)
      if (rows.length > 0) yield { events, place: textOf(place) }
    }
    if (full) continue
    const quiet = deps.storage.isShared || chains.length === 0
    await news.wait(quiet ? deps.clock.sleep(otherNodesEveryMs, op.signal) : null)
    if (quiet) chains = [...(await endsOf(deps)).keys()]
  }
}

const textOf = (place: Map<string, number>): string => placeText(place) || '-'

/** Moves the place on over the rows, and notes it with each event. */
function eventsOf(
  rows: readonly AuditRow[],
  place: Map<string, number>,
  agent: string | undefined,
): ActivityBatch['events'] {
  return rows.flatMap((row) => {
    place.set(row.chain, row.seq + 1)
    if (isIntent(row) || (agent !== undefined && row.agent !== agent)) return []
    return [{ place: textOf(place), event: activityOf(row) }]
  })
}

/** Whether something was committed since it was last asked; waits for it, or for the end. */
class News {
  #fresh = true
  #wake: () => void = () => {}

  constructor(signal: AbortSignal) {
    signal.addEventListener('abort', () => this.tell(), { once: true })
    if (signal.aborted) this.tell()
  }

  tell(): void {
    this.#fresh = true
    this.#wake()
  }

  taken(): void {
    this.#fresh = false
  }

  async wait(atLatest: Promise<void> | null): Promise<void> {
    if (this.#fresh) return
    const told = new Promise<void>((resolve) => {
      this.#wake = resolve
    })
    await (atLatest ? Promise.race([told, atLatest]) : told)
  }
}
