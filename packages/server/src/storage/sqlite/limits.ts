import { parseStored } from '../../domain/parse-stored.ts'
import type { LimitStamp, SlidingWindows } from '../../domain/sliding-window.ts'
import type { SqliteConnection, Statement } from './adapter.ts'

/** Every so many batches, expired ones are removed: at most so many, so that no commit waits for long. */
const pruneEvery = 8
const pruneMax = 32

type Stored = readonly [key: string, window_ms: number, at_ms: readonly number[]]

/** Stamps that were stored and expire after `clockMs`, in the order of their moments. */
export const storedStamps = (
  connection: Pick<SqliteConnection, 'run'>,
  clockMs: number,
): readonly LimitStamp[] => {
  const stamps: LimitStamp[] = []
  const text = 'select stamps from limit_batches where expires_ms > ?'
  for (const row of connection.run(text, [clockMs]).rows)
    for (const [key, window_ms, at] of parseStored<Stored[]>(
      String(row['stamps']),
      'limit_batches.stamps',
    ))
      for (const at_ms of at)
        if (at_ms + window_ms > clockMs) stamps.push({ key, at_ms, window_ms })
  return stamps.sort((a, b) => a.at_ms - b.at_ms)
}

/** The stamps of the windows, one row for each group: a row for each stamp cost more than the entry. */
export class LimitBatches {
  readonly #writer: Pick<SqliteConnection, 'run'>
  #batches = 0

  constructor(writer: Pick<SqliteConnection, 'run'>) {
    this.#writer = writer
  }

  /** To be run in the transaction of the group. */
  statements(stamps: readonly LimitStamp[], clockMs: number): Statement[] {
    if (stamps.length === 0) return []
    const byKey = new Map<string, { readonly window_ms: number; readonly at: number[] }>()
    let expires = 0
    for (const { key, window_ms, at_ms } of stamps) {
      const known = byKey.get(key)
      if (known) known.at.push(at_ms)
      else byKey.set(key, { window_ms, at: [at_ms] })
      expires = Math.max(expires, at_ms + window_ms)
    }
    const stored = [...byKey].map(([key, { window_ms, at }]): Stored => [key, window_ms, at])
    const insert = 'insert into limit_batches (expires_ms, stamps) values (?, ?)'
    const all: Statement[] = [[insert, [expires, JSON.stringify(stored)]]]
    if (++this.#batches % pruneEvery > 0) return all
    const prune = `delete from limit_batches where n in
      (select n from limit_batches where expires_ms <= ? order by expires_ms limit ?)`
    all.push([prune, [clockMs, pruneMax]])
    return all
  }

  /** Counts what was stored before and had not left its window by `clockMs`. */
  prime(windows: SlidingWindows, clockMs: number): void {
    for (const stamp of storedStamps(this.#writer, clockMs)) windows.restore(stamp)
  }
}
