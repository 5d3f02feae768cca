import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'
import { gather } from '../../domain/gather.ts'
import type { LimitKey, LimitVerdict, RateLimits } from '../../ports/limits.ts'
import type { Tables } from '../sql/tables.ts'
import { encodeText } from '../sql/text.ts'
import type { DedicatedClient } from './dedicated-client.ts'
import { postgresFailure } from './dialect.ts'

/** Uses that one statement takes at most, so that others who need the same rows wait for little. */
const turnMax = 256
/** Every so many stamps, a node removes expired ones, and every so often keys that nobody uses any more. */
const pruneEvery = 256
const pruneMax = 512
const idleEveryMs = 60_000
/** Clocks of nodes differ a little: a stamp that is expired here may not be elsewhere. */
const skewMs = 60_000

type Take = {
  readonly keys: readonly LimitKey[]
  readonly nowMs: number
  resolve(verdict: LimitVerdict): void
  reject(error: unknown): void
}

/** A key as all takes of a turn together want it. */
type Wanted = { limit: number; readonly window_ms: number; uses: number }

type Each = { refused: number | null; wait_ms: number; moments: readonly (number | null)[] }

const wantedBy = (takes: readonly Take[]): ReadonlyMap<string, Wanted> => {
  const wanted = new Map<string, Wanted>()
  for (const { keys } of takes) {
    const counted = new Set<string>()
    for (const { key, limit, window_ms } of keys) {
      const known = wanted.get(key)
      if (known) known.limit = Math.min(known.limit, limit)
      else wanted.set(key, { limit, window_ms, uses: 0 })
      if (counted.has(key)) continue
      counted.add(key)
      ;(wanted.get(key) as Wanted).uses += 1
    }
  }
  return wanted
}

/** Stamps of one use: a key that several limits have is counted once. */
const stampsOf = (
  keys: readonly LimitKey[],
  momentOf: (key: string, at: number) => number | null,
): LimitVerdict => {
  const counted = new Set<string>()
  const stamps = keys.flatMap(({ key, window_ms }, at) => {
    const at_ms = momentOf(key, at)
    if (at_ms === null || counted.has(key)) return []
    counted.add(key)
    return [{ key, window_ms, at_ms }]
  })
  return { kind: 'allowed', stamps }
}

/**
 * Nodes share the windows, so the database counts; a use is stored when it is taken. What one turn of the event loop
 * asks for, and what comes while a statement runs, is one statement.
 */
class PostgresLimits implements RateLimits {
  readonly #db: Kysely<Tables>
  readonly #client: DedicatedClient
  #waiting: Take[] = []
  #running = false
  #lastTurn = 0
  #stamped = 0
  #idleMs = 0

  constructor(db: Kysely<Tables>, client: DedicatedClient) {
    this.#db = db
    this.#client = client
  }

  take(keys: readonly LimitKey[], nowMs: number): Promise<LimitVerdict> {
    if (keys.length === 0) return Promise.resolve({ kind: 'allowed', stamps: [] })
    return new Promise((resolve, reject) => {
      this.#waiting.push({ keys, nowMs, resolve, reject })
      if (this.#running) return
      this.#running = true
      setImmediate(() => void this.#drain())
    })
  }

  restore(): void {}

  async used({ key, window_ms }: LimitKey, nowMs: number): Promise<number> {
    const { rows } = await sql<{ used: number }>`
      select cast(coalesce(sum(s.uses), 0) as bigint) as used from limit_stamps s
      join limit_keys k on k.key = s.key
      where s.key = ${encodeText(key)}
        and s.at_ms > greatest(${nowMs}::bigint, k.at_ms) - ${window_ms}::bigint`.execute(this.#db)
    return rows[0]?.used ?? 0
  }

  async #drain(): Promise<void> {
    while (this.#waiting.length > 0) {
      await gather(this.#lastTurn, () => this.#waiting.length, nextTurn)
      const takes = this.#waiting.splice(0, turnMax)
      this.#lastTurn = takes.length
      try {
        await this.#takeTurn(takes)
      } catch (error) {
        for (const { reject } of takes) reject(postgresFailure(error))
      }
    }
    this.#running = false
  }

  async #takeTurn(takes: readonly Take[]): Promise<void> {
    const nowMs = Math.max(...takes.map((take) => take.nowMs))
    const wanted = wantedBy(takes)
    for (;;) {
      const taken =
        (await this.#takeAll(wanted, nowMs, takes)) ?? (await this.#takeEach(takes, nowMs))
      if (taken) break
      await this.#makeKeys(wanted)
    }
    await this.#prune(nowMs, wanted.size)
  }

  /** Null where calls have to be looked at one by one, false where a key has no row yet. */
  async #takeAll(
    wanted: ReadonlyMap<string, Wanted>,
    nowMs: number,
    takes: readonly Take[],
  ): Promise<boolean | null> {
    const each = [...wanted.values()]
    const { rows } = await this.#client.run((client) =>
      client.query<{ moments: string[] | null }>({
        name: 'gatehouse-take-all',
        text: 'select gatehouse_take_all($1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint) as moments',
        values: [
          [...wanted.keys()].map(encodeText),
          each.map(({ limit }) => limit),
          each.map(({ window_ms }) => window_ms),
          each.map(({ uses }) => uses),
          nowMs,
        ],
      }),
    )
    const moments = rows[0]?.moments ?? null
    if (moments === null) return null
    if (moments.length < wanted.size) return false
    const momentOf = new Map([...wanted.keys()].map((key, at) => [key, Number(moments[at])]))
    for (const { keys, resolve } of takes)
      resolve(stampsOf(keys, (key) => momentOf.get(key) ?? null))
    return true
  }

  async #takeEach(takes: readonly Take[], nowMs: number): Promise<boolean> {
    const starts: number[] = []
    const all: LimitKey[] = []
    for (const { keys } of takes) {
      starts.push(all.length + 1)
      all.push(...keys)
    }
    const { rows } = await this.#client.run((client) =>
      client.query<Each>({
        name: 'gatehouse-take-each',
        text: 'select * from gatehouse_take_each($1::integer[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint)',
        values: [
          starts,
          all.map(({ key }) => encodeText(key)),
          all.map(({ limit }) => limit),
          all.map(({ window_ms }) => window_ms),
          nowMs,
        ],
      }),
    )
    if (rows.length < takes.length) return false
    for (const [at, { keys, nowMs: ownMs, resolve }] of takes.entries()) {
      const { refused, wait_ms, moments } = rows[at] as Each
      if (refused === null) {
        resolve(stampsOf(keys, (_key, i) => (moments[i] == null ? null : Number(moments[i]))))
        continue
      }
      const retry_after_ms = wait_ms + nowMs - ownMs
      resolve({ kind: 'limited', key: keys[refused - 1] as LimitKey, retry_after_ms })
    }
    return true
  }

  /** Alone in its transaction, and in one order: whoever makes a key holds no other that somebody may wait for. */
  async #makeKeys(wanted: ReadonlyMap<string, Wanted>): Promise<void> {
    await sql`
      insert into limit_keys (key, n, at_ms, window_ms)
      select q.key, 0, 0, q.window_ms
      from unnest(${[...wanted.keys()].map(encodeText)}::text[],
        ${[...wanted.values()].map(({ window_ms }) => window_ms)}::bigint[]) as q (key, window_ms)
      order by q.key collate "C" on conflict do nothing`.execute(this.#db)
  }

  async #prune(nowMs: number, stamps: number): Promise<void> {
    this.#stamped += stamps
    if (this.#stamped >= pruneEvery) {
      this.#stamped = 0
      await sql`delete from limit_stamps where ctid = any (array(
        select ctid from limit_stamps where expires_ms <= ${nowMs - skewMs}
        order by expires_ms limit ${pruneMax}))`.execute(this.#db)
    }
    if (nowMs - this.#idleMs < idleEveryMs) return
    this.#idleMs = nowMs
    await sql`
      with idle as (
        delete from limit_keys where ctid = any (array(
          select ctid from limit_keys where at_ms + window_ms <= ${nowMs - skewMs} and n > 0
          limit ${pruneMax} for update skip locked))
        returning key
      )
      delete from limit_stamps s using idle where s.key = idle.key`.execute(this.#db)
  }
}

export const postgresLimits = (db: Kysely<Tables>, client: DedicatedClient): RateLimits =>
  new PostgresLimits(db, client)
