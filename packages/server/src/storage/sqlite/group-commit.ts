import type { CommitGroup, IndexRow } from '../../ports/audit-rows.ts'
import { auditColumns, toIndexRow } from '../sql/audit-codec.ts'
import { foldsAt } from '../sql/folds-at.ts'
import { encodeText } from '../sql/text.ts'
import type { SqliteConnection, Statement } from './adapter.ts'
import type { GroupTexts } from './group-texts.ts'
import { LimitBatches } from './limits.ts'

/** What runs statements: a connection here, or one in the thread that indexes. */
export type Runner = Pick<SqliteConnection, 'run'>

/**
 * Takes groups into the index, with statements that were compiled before. The thread that indexes loads this, so it
 * needs neither the query builder nor the contract.
 */
export class GroupCommit {
  readonly #writer: Runner
  readonly #batches: LimitBatches
  readonly #texts: GroupTexts

  constructor(writer: Runner, texts: GroupTexts) {
    this.#writer = writer
    this.#batches = new LimitBatches(writer)
    this.#texts = texts
  }

  /** In a transaction that is open already. */
  store(group: CommitGroup): void {
    const chain = group.rows[0]?.chain
    const progress = chain === undefined ? { next: 0, counted: 0 } : this.#progress(chain)
    const rows = group.rows.filter(({ seq }) => seq >= progress.next)
    const isCounted = group.rows.some(({ seq }) => seq < progress.counted)
    for (const row of rows) {
      const stored = toIndexRow(row)
      this.#writer.run(
        this.#texts.insert,
        auditColumns.map((column) => stored[column]),
      )
    }
    this.#runAll(this.#folds(rows))
    if (!isCounted) this.#count(group)
    const end = (group.rows.at(-1)?.seq ?? -1) + 1
    if (chain !== undefined)
      this.#writer.run(this.#texts.setProgress, [
        chain,
        Math.max(progress.next, end),
        Math.max(progress.counted, end),
      ])
  }

  #progress(chain: string): { readonly next: number; readonly counted: number } {
    const text = 'select next, counted from audit_progress where chain = ?'
    const [row] = this.#writer.run(text, [chain]).rows
    return { next: Number(row?.['next'] ?? 0), counted: Number(row?.['counted'] ?? 0) }
  }

  #count(group: CommitGroup): void {
    const { countAgent, countSession, setClock } = this.#texts
    this.#runAll(this.#batches.statements(group.stamps, group.clockMs))
    for (const [name, calls] of group.agentCounts)
      this.#writer.run(countAgent, [calls, encodeText(name)])
    for (const [id, calls] of group.sessionCounts)
      this.#writer.run(countSession, [calls, encodeText(id)])
    this.#writer.run(setClock, [group.clockMs])
  }

  #runAll(statements: readonly Statement[]): void {
    for (const [text, values] of statements) this.#writer.run(text, values)
  }

  #folds(rows: readonly Pick<IndexRow, 'chain' | 'seq'>[]): Statement[] {
    return rows
      .filter(({ seq }) => foldsAt(seq))
      .flatMap((row) =>
        this.#texts.folds.map(
          ({ text, parameters }): Statement => [text, parameters.map((name) => row[name])],
        ),
      )
  }
}
