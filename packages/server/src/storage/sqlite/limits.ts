import type { LimitStamp, SlidingWindows } from '../../domain/sliding-window.ts'
import type { SqliteConnection } from './adapter.ts'

/** Every so many batches, expired ones are removed: at most so many, so that no commit waits for long. */
const pruneEvery = 8
const pruneMax = 32

type Stored = readonly [key: string, at_ms: number, window_ms: number]

/** The stamps of the windows, one row for each group: a row for each stamp cost more than the entry. */
export class LimitBatches {
  readonly #writer: SqliteConnection
  #batches = 0

  constructor(writer: SqliteConnection) {
    this.#writer = writer
  }

  /** In the transaction of the group. */
  add(stamps: readonly LimitStamp[], clockMs: number): void {
    if (stamps.length === 0) return
    const stored = stamps.map((s): Stored => [s.key, s.at_ms, s.window_ms])
    const expires = stamps.reduce((latest, s) => Math.max(latest, s.at_ms + s.window_ms), 0)
    this.#writer.run('insert into limit_batches (expires_ms, stamps) values (?, ?)', [
      expires,
      JSON.stringify(stored),
    ])
    if (++this.#batches % pruneEvery > 0) return
    this.#writer.run(
      `delete from limit_batches where n in
       (select n from limit_batches where expires_ms <= ? order by expires_ms limit ?)`,
      [clockMs, pruneMax],
    )
  }

  /** Counts what was stored before and had not left its window by `clockMs`. */
  prime(windows: SlidingWindows, clockMs: number): void {
    const stamps: Stored[] = []
    const rows = this.#writer.run('select stamps from limit_batches where expires_ms > ?', [
      clockMs,
    ]).rows
    for (const row of rows)
      for (const stamp of JSON.parse(String(row['stamps'])) as Stored[])
        if (stamp[1] + stamp[2] > clockMs) stamps.push(stamp)
    stamps.sort((a, b) => a[1] - b[1])
    for (const [key, at_ms, window_ms] of stamps) windows.restore({ key, at_ms, window_ms })
  }
}
