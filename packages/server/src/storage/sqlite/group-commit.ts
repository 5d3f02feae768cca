import type { Kysely } from 'kysely'
import type { AuditRow, CommitGroup } from '../../ports/audit-rows.ts'
import { auditColumns, toAuditRow } from '../sql/audit-codec.ts'
import { foldStatements, foldsAt } from '../sql/audit-daily.ts'
import type { AuditTable, Tables } from '../sql/tables.ts'
import { encodeText } from '../sql/text.ts'
import type { SqliteConnection, SqlValue, Statement } from './adapter.ts'
import type { LimitBatches } from './limits.ts'

/** What is stored with rows, and which rows those are. */
type BesideRows = Omit<CommitGroup, 'rows' | 'sealed'> & {
  readonly sealed?: CommitGroup['sealed'] | undefined
  readonly rows: readonly Pick<AuditRow, 'chain' | 'seq'>[]
}

type Texts = {
  readonly insert: string
  readonly countAgent: string
  readonly countSession: string
  readonly setClock: string
  readonly setMeta: string
}

const compileTexts = (db: Kysely<Tables>): Texts => ({
  insert: db
    .insertInto('audit')
    .values(Object.fromEntries(auditColumns.map((column) => [column, ''])) as unknown as AuditTable)
    .compile().sql,
  countAgent: db
    .updateTable('agents')
    .set((eb) => ({ total_invocations: eb('total_invocations', '+', 1) }))
    .where('name', '=', '')
    .compile().sql,
  countSession: db
    .updateTable('sessions')
    .set((eb) => ({ invocations: eb('invocations', '+', 1) }))
    .where('id', '=', '')
    .compile().sql,
  setMeta: db
    .insertInto('meta')
    .values({ key: '', value: '' })
    .onConflict((conflict) =>
      conflict.column('key').doUpdateSet((eb) => ({ value: eb.ref('excluded.value') })),
    )
    .compile().sql,
  setClock: db.updateTable('service_clock').set({ ms: 0 }).compile().sql,
})

/** The hot path: one transaction, synchronously, with statements that were compiled before. */
export class GroupCommit {
  readonly #db: Kysely<Tables>
  readonly #writer: SqliteConnection
  readonly #batches: LimitBatches
  readonly #texts: Texts

  constructor(db: Kysely<Tables>, writer: SqliteConnection, batches: LimitBatches) {
    this.#db = db
    this.#writer = writer
    this.#batches = batches
    this.#texts = compileTexts(db)
  }

  /** The writer must be free. */
  run(group: CommitGroup): void {
    this.#writer.run('begin immediate', [])
    try {
      this.store(group)
      this.#writer.run('commit', [])
    } catch (error) {
      this.#writer.rollback()
      throw error
    }
  }

  /** In a transaction that is open already. */
  store(group: CommitGroup): void {
    for (const [text, values] of this.statements(group)) this.#writer.run(text, values)
  }

  /** What stores a group, to be run in this order in one transaction. */
  statements(group: CommitGroup): Statement[] {
    return [...this.#inserts(group.rows), ...this.statementsBesideRows(group)]
  }

  /** One row at a time: binding the values of many rows at once took longer. */
  get insertText(): string {
    return this.#texts.insert
  }

  /** What goes with the rows and after them. */
  statementsBesideRows(group: BesideRows): Statement[] {
    const { countAgent, countSession, setClock, setMeta } = this.#texts
    const all = this.#folds(group.rows)
    all.push(...this.#batches.statements(group.stamps, group.clockMs))
    for (const [name, calls] of group.agentCounts) all.push([countAgent, [calls, encodeText(name)]])
    for (const [id, calls] of group.sessionCounts) all.push([countSession, [calls, encodeText(id)]])
    all.push([setClock, [group.clockMs]])
    if (group.sealed)
      all.push([setMeta, [encodeText(group.sealed.key), encodeText(group.sealed.value)]])
    return all
  }

  #inserts(rows: readonly AuditRow[]): Statement[] {
    return rows.map((row) => {
      const stored = toAuditRow(row)
      return [this.#texts.insert, auditColumns.map((column) => stored[column])]
    })
  }

  #folds(rows: BesideRows['rows']): Statement[] {
    const all: Statement[] = []
    for (const { chain, seq } of rows)
      if (foldsAt(seq))
        for (const statement of foldStatements(chain, seq)) {
          const { sql: text, parameters } = statement.compile(this.#db)
          all.push([text, parameters as readonly SqlValue[]])
        }
    return all
  }
}
