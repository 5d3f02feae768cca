import type { IndexRow } from '../../ports/audit-rows.ts'

type Index = {
  readonly rows: IndexRow[]
  readonly keys: Set<string>
  readonly byId: Map<string, IndexRow>
}

const keyOf = (row: IndexRow): string => JSON.stringify([row.chain, row.seq])
const emptyIndex = (): Index => ({ rows: [], keys: new Set(), byId: new Map() })

const add = (index: Index, row: IndexRow): void => {
  index.rows.push(row)
  index.keys.add(keyOf(row))
  index.byId.set(row.id, row)
}

/** Rows that only grow. A fork shares what was there and keeps its own apart until it is joined. */
export class AuditLog {
  readonly #base: Index
  readonly #own: Index | null

  constructor(base: Index = emptyIndex(), own: Index | null = null) {
    this.#base = base
    this.#own = own
  }

  fork(): AuditLog {
    return new AuditLog(this.#base, emptyIndex())
  }

  /** The log with the rows of this fork; nobody else may have added any meanwhile. */
  joined(): AuditLog {
    for (const row of this.#own?.rows ?? []) add(this.#base, row)
    return new AuditLog(this.#base)
  }

  /** Rows whose number or id is in use are passed over. */
  append(rows: readonly IndexRow[]): void {
    for (const row of rows)
      if (!this.#has(keyOf(row), row.id)) add(this.#own ?? this.#base, { ...row })
  }

  /** Takes rows out, of a log that is no fork. */
  remove(isGone: (row: IndexRow) => boolean): void {
    const left = this.#base.rows.filter((row) => !isGone(row))
    this.#base.rows.length = 0
    this.#base.keys.clear()
    this.#base.byId.clear()
    for (const row of left) add(this.#base, row)
  }

  /** The number after the last row of a chain. */
  endOf(chain: string): number {
    const last = this.all().findLast((row) => row.chain === chain)
    return last ? last.seq + 1 : 0
  }

  find(id: string): IndexRow | null {
    return this.#own?.byId.get(id) ?? this.#base.byId.get(id) ?? null
  }

  all(): readonly IndexRow[] {
    return this.#own && this.#own.rows.length > 0
      ? [...this.#base.rows, ...this.#own.rows]
      : this.#base.rows
  }

  #has(key: string, id: string): boolean {
    return [this.#base, this.#own].some((index) => index?.keys.has(key) || index?.byId.has(id))
  }
}
