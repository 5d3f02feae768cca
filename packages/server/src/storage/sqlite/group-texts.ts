import type { Kysely } from 'kysely'
import { auditColumns } from '../sql/audit-codec.ts'
import { foldStatements } from '../sql/audit-daily.ts'
import type { AuditTable, Tables } from '../sql/tables.ts'

/** What takes a group into the index, as text that another thread can be given. */
export type GroupTexts = {
  readonly insert: string
  readonly countAgent: string
  readonly countSession: string
  readonly setClock: string
  readonly setProgress: string
  /** What adds rows to the daily counts, with what stands for each parameter. */
  readonly folds: readonly {
    readonly text: string
    readonly parameters: readonly ('chain' | 'seq')[]
  }[]
}

export const compileGroupTexts = (db: Kysely<Tables>): GroupTexts => ({
  insert: db
    .insertInto('audit')
    .values(Object.fromEntries(auditColumns.map((column) => [column, ''])) as unknown as AuditTable)
    // A row that somebody put in its place is found by comparing the index with the log.
    .onConflict((conflict) => conflict.doNothing())
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
  setProgress: db
    .insertInto('audit_progress')
    .values({ chain: '', next: 0, counted: 0 })
    .onConflict((conflict) =>
      conflict.column('chain').doUpdateSet((eb) => ({
        next: eb.ref('excluded.next'),
        counted: eb.ref('excluded.counted'),
      })),
    )
    .compile().sql,
  setClock: db.updateTable('service_clock').set({ ms: 0 }).compile().sql,
  folds: foldStatements('chain', 0)
    .map((statement) => statement.compile(db))
    .map(({ sql: text, parameters }) => ({
      text,
      parameters: parameters.map((value) => (value === 'chain' ? 'chain' : 'seq')),
    })),
})
