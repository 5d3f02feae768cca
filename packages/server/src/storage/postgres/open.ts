import { Kysely, sql } from 'kysely'
import pg from 'pg'
import type { RateLimits } from '../../ports/limits.ts'
import type { Storage } from '../../ports/storage.ts'
import { recordedIn, sqlAuditCopies } from '../sql/audit-copies.ts'
import { kindOf } from '../sql/changes.ts'
import { assertNotMoved } from '../sql/move-mark.ts'
import type { StoreDialect } from '../sql/store-dialect.ts'
import { assertStoreId, claimStoreId } from '../sql/store-id.ts'
import { sqlStores } from '../sql/stores.ts'
import type { Tables } from '../sql/tables.ts'
import { BoundedClient, bounded } from './bounded-client.ts'
import { ChangeFeed } from './change-feed.ts'
import { DedicatedClient } from './dedicated-client.ts'
import { applySettings, postgresDialect, postgresFailure, types } from './dialect.ts'
import { TableWatch } from './foreign-change.ts'
import { commitOn } from './group-commit.ts'
import { postgresLimits } from './limits.ts'
import { postgresSearch } from './search.ts'
import { assertSessions } from './sessions.ts'
import { assertServerSettings } from './settings.ts'
import { upgradePostgres } from './upgrade.ts'

const connectionsMax = 10
/** Any number that nothing else in this database locks. */
const transactionLock = 7_700_001

/** The pool waits for the promise, though its types say void. */
const hooks: object = { onConnect: applySettings }

const postgresStores: StoreDialect = {
  search: postgresSearch,
  eventHorizon: sql`txid_snapshot_xmin(txid_current_snapshot())`,
}

/** Opens the store in this database, which any number of nodes may share, and upgrades it as needed. */
export const openPostgres = async ({
  url,
  directUrl = url,
  expectedId = null,
  moves = false,
  syncsLimits = true,
  answerMs,
}: {
  readonly url: string
  /** The same database past a pooler, for connections that keep what they set, prepare or listen to. */
  readonly directUrl?: string
  /** Id that the store must have; null or left out for one that may be new. */
  readonly expectedId?: string | null
  /** Whether a store that is on its way elsewhere, or from there, is opened too. */
  readonly moves?: boolean | undefined
  /** Whether a use of a limit has to outlast a crash by itself, since no group is stored before the call is answered. */
  readonly syncsLimits?: boolean
  /** How long the database may take to answer, for tests. */
  readonly answerMs?: number
}): Promise<Storage> => {
  const pool = new pg.Pool({
    ...bounded(url, answerMs),
    Client: BoundedClient,
    max: connectionsMax,
    types,
    ...hooks,
  })
  // An idle connection that breaks is replaced when it is needed; without a listener it ends the process.
  pool.on('error', () => {})
  const feed: ChangeFeed = new ChangeFeed({
    url: directUrl,
    answerMs,
    notify: (channel, text) => pool.query('select pg_notify($1, $2)', [channel, text]),
  })
  const tell = (table: string): void => {
    const kind = kindOf(table)
    if (kind) feed.tell(kind)
  }
  const db = new Kysely<Tables>({ dialect: postgresDialect(pool, tell) })
  const committer = new DedicatedClient(directUrl, { answerMs })
  // @SECURITY A use is not synced by itself where the group of its call is, in a later commit that syncs both: without
  // that commit a crash of the database could forget uses; postgres.test.ts, "on the disk".
  const taker = new DedicatedClient(directUrl, {
    settings: syncsLimits ? '' : 'set synchronous_commit = off',
    answerMs,
  })
  const close = async () => {
    await feed[Symbol.asyncDispose]()
    await taker[Symbol.asyncDispose]()
    await committer[Symbol.asyncDispose]()
    await db.destroy()
  }
  try {
    await assertServerSettings(db as Kysely<unknown>)
    await assertSessions(committer, taker)
    await assertStoreId(db, expectedId, 'the database of database_url')
    if (!moves) await assertNotMoved(db)
    await upgradePostgres(directUrl)
    const watch = new TableWatch(db as Kysely<unknown>)
    await watch.setBaseline()
    const limits = postgresLimits(db, taker)
    await feed.open()
    return storage({ db, feed, committer, watch, limits, close, id: await claimStoreId(db) })
  } catch (error) {
    await close()
    throw postgresFailure(error)
  }
}

type Opened = {
  readonly db: Kysely<Tables>
  readonly feed: ChangeFeed
  readonly committer: DedicatedClient
  readonly watch: TableWatch
  readonly limits: RateLimits
  readonly close: () => Promise<void>
  readonly id: string
}

const storage = ({ db, feed, committer, watch, limits, close, id }: Opened): Storage => ({
  ...sqlStores({ read: db, write: db }, postgresStores),
  engine: 'postgres',
  isShared: true,
  isNetworked: true,
  id,
  limits,
  onForeignChange: (kind, listener) => feed.on(kind, listener),

  async wallMs() {
    const { rows } = await sql<{ ms: number }>`
      select cast(extract(epoch from clock_timestamp()) * 1000 as bigint) as ms`.execute(db)
    return rows[0]?.ms ?? Number.NaN
  },

  transaction: (work) =>
    db
      .transaction()
      .setIsolationLevel('read committed')
      .execute(async (tx) => {
        // One transaction at a time on all nodes, as on SQLite: use cases read, decide and write, and
        // could not be repeated after a serialization failure. Group commits do not wait for this.
        await sql`select pg_advisory_xact_lock(${transactionLock})`.execute(tx)
        return work(sqlStores({ read: tx, write: tx }, postgresStores))
      }),

  async record(group) {
    try {
      await committer.run((client) => commitOn(client, group))
      if (group.rows.length > 0) feed.tell('audit')
    } catch (error) {
      throw postgresFailure(error)
    }
  },
  recorded: (chain) => recordedIn({ read: db }, chain),
  flush: async () => {},
  copies: { ...sqlAuditCopies({ read: db, write: db }), takeForeign: () => watch.takeForeign() },

  [Symbol.asyncDispose]: close,
})
