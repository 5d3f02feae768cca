import type { CompiledQuery, OperationNode, TableNode } from 'kysely'
import type { ChangedKind } from '../../ports/storage.ts'

/** Tables whose changes somebody in another process waits for. */
const kinds: Readonly<Record<string, ChangedKind>> = {
  agents: 'agents',
  approvals: 'approvals',
  jobs: 'jobs',
  // Little else of it changes while nodes run.
  meta: 'policy',
  services: 'services',
  shared_events: 'events',
  state: 'state',
  upstreams: 'upstreams',
  writes: 'writes',
}

export const kindOf = (table: string): ChangedKind | null => kinds[table] ?? null

/** Told of each table that a commit changed. */
export type Changed = (table: string) => void

/** Table that a statement changes; null for one that only reads. */
const changedTable = ({ query }: CompiledQuery): string | null => {
  const named = (node: OperationNode | undefined): string | null =>
    node?.kind === 'TableNode' ? (node as TableNode).table.identifier.name : null
  if (query.kind === 'InsertQueryNode') return named(query.into)
  if (query.kind === 'UpdateQueryNode') return named(query.table)
  return query.kind === 'DeleteQueryNode' ? named(query.from.froms[0]) : null
}

/** Changes of one connection: those of a transaction are told once it is committed. */
export class ChangedTables {
  readonly #changed: Changed
  /** Of the transaction that is open. */
  #pending: Set<string> | null = null

  constructor(changed: Changed) {
    this.#changed = changed
  }

  begun(): void {
    this.#pending = new Set()
  }

  ended(committed: boolean): void {
    if (committed) for (const table of this.#pending ?? []) this.#changed(table)
    this.#pending = null
  }

  ran(query: CompiledQuery): void {
    const table = changedTable(query)
    if (table === null) return
    if (this.#pending) this.#pending.add(table)
    else this.#changed(table)
  }
}
