import { type Kysely, sql } from 'kysely'

/**
 * Changes that hardly anybody but somebody else makes: copies that were updated or deleted, the table's file (truncated,
 * rewritten), its triggers. The counts reach us up to a second late, so
 * an edit may show one query later; the background verification does not depend on them.
 */
export class TableWatch {
  readonly #db: Kysely<unknown>
  #seen = { edits: 0, shape: '' }

  constructor(db: Kysely<unknown>) {
    this.#db = db
  }

  /** Takes how the table is now for granted; edits that were counted earlier still show. */
  async setBaseline(): Promise<void> {
    this.#seen = { edits: 0, shape: (await this.#look()).shape }
  }

  async takeForeign(): Promise<boolean> {
    const now = await this.#look()
    const foreign = now.edits !== this.#seen.edits || now.shape !== this.#seen.shape
    this.#seen = now
    return foreign
  }

  async #look(): Promise<{ edits: number; shape: string }> {
    const { rows } = await sql<{ edits: number; shape: string }>`
      select cast(sum(coalesce(pg_stat_get_tuples_updated(c.oid) + pg_stat_get_tuples_deleted(c.oid), 0))
               as bigint) as edits,
             string_agg(concat_ws(' ', c.oid, pg_relation_filenode(c.oid),
               (select string_agg(concat(t.tgname, ':', t.tgenabled), ' ' order by t.tgname)
                from pg_trigger t where t.tgrelid = c.oid)), ' ' order by c.relname) as shape
      from pg_class c where c.oid = to_regclass('audit_copies')`.execute(this.#db)
    return rows[0] ?? { edits: 0, shape: 'none' }
  }
}
