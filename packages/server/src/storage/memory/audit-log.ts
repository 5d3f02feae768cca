import { GatehouseError } from '@gatehouse/contract'
import type { AuditRow } from '../../ports/audit-rows.ts'

type Index = {
  readonly rows: AuditRow[]
  readonly keys: Set<string>
  readonly byId: Map<string, AuditRow>
}

const keyOf = (row: AuditRow): string => JSON.stringify([row.chain, row.seq])
const emptyIndex = (): Index => ({ rows: [], keys: new Set(), byId: new Map() })

const add = (index: Index, row: AuditRow): void => {
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

  /** All or nothing. */
  append(rows: readonly AuditRow[]): void {
    const [keys, ids] = [new Set<string>(), new Set<string>()]
    for (const row of rows) {
      const key = keyOf(row)
      if (this.#has(key, row.id) || keys.has(key) || ids.has(row.id))
        throw new GatehouseError('Conflict', { detail: `audit entry ${row.id} (${key}) is there` })
      keys.add(key)
      ids.add(row.id)
    }
    for (const row of rows) add(this.#own ?? this.#base, { ...row })
  }

  /** The log without these rows, for a log that is no fork. */
  without(gone: readonly AuditRow[]): AuditLog {
    const ids = new Set(gone.map(({ id }) => id))
    const left = emptyIndex()
    for (const row of this.#base.rows) if (!ids.has(row.id)) add(left, row)
    return new AuditLog(left)
  }

  find(id: string): AuditRow | null {
    return this.#own?.byId.get(id) ?? this.#base.byId.get(id) ?? null
  }

  all(): readonly AuditRow[] {
    return this.#own && this.#own.rows.length > 0
      ? [...this.#base.rows, ...this.#own.rows]
      : this.#base.rows
  }

  #has(key: string, id: string): boolean {
    return [this.#base, this.#own].some((index) => index?.keys.has(key) || index?.byId.has(id))
  }
}
