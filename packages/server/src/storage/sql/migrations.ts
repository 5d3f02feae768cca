import { type Kysely, type Migration, type RawBuilder, sql } from 'kysely'
import { agentFolders } from './agent-folders.ts'
import { anyNodeTables } from './any-node-tables.ts'
import { auditIndex, indexInFiles } from './audit-index-tables.ts'
import { clockTable } from './clock-table.ts'
import { index } from './create-index.ts'
import { grantTables } from './grant-tables.ts'
import { modelTables } from './model-tables.ts'
import { nodeTables } from './node-tables.ts'
import { processTables } from './process-tables.ts'
import { replicaTables } from './replica-tables.ts'
import type { SchemaDialect } from './schema-dialect.ts'
import { secretTables } from './secret-tables.ts'
import { serviceTables } from './service-tables.ts'
import { stateTables } from './state-tables.ts'
import { timeAndMessages } from './time-and-messages.ts'
import { upstreamTables } from './upstream-tables.ts'

/** Forward only. A migration that has been released is never edited. */
export const migrations = (dialect: SchemaDialect): Record<string, Migration> => ({
  '0001-start': { up: (db) => start(db, dialect) },
  '0002-time-and-messages': { up: (db) => timeAndMessages(db, dialect) },
  '0003-state': { up: (db) => stateTables(db, dialect.text) },
  '0004-operators': { up: (db) => operatorTables(db, dialect.text) },
  '0005-grants': { up: (db) => grantTables(db, dialect.text) },
  '0006-secrets': { up: (db) => secretTables(db, dialect.text) },
  '0007-processes': { up: (db) => processTables(db, dialect.text) },
  '0008-models': { up: (db) => modelTables(db, dialect.text) },
  '0009-services': { up: (db) => serviceTables(db, dialect) },
  '0010-replica': { up: (db) => replicaTables(db, dialect) },
  '0011-sent-arguments': { up: (db) => sentArguments(db, dialect.text) },
  '0012-clock': { up: clockTable },
  '0013-agent-changes': { up: agentChanges },
  '0014-audit-index': { up: (db) => auditIndex(db, dialect) },
  '0015-index-in-files': { up: indexInFiles },
  '0016-agent-tools': { up: (db) => agentTools(db, dialect.text) },
  '0017-agent-reason': { up: (db) => agentReason(db, dialect.text) },
  '0018-upstreams': { up: (db) => upstreamTables(db, dialect.text) },
  '0019-hook-tokens': { up: (db) => hookTokens(db, dialect.text) },
  '0020-agent-limits': { up: (db) => agentLimits(db, dialect.text) },
  '0021-nodes': { up: (db) => nodeTables(db, dialect.text) },
  '0022-limits-in-batches': { up: (db) => dialect.limitsInBatches(db) },
  '0023-token-age': { up: tokenAge },
  '0024-agent-folders': { up: (db) => agentFolders(db, dialect.text) },
  '0025-any-node': { up: (db) => anyNodeTables(db, dialect.text) },
  '0026-event-order': { up: (db) => eventOrder(db, dialect.transactionNumber) },
  '0027-unresolved-alerts': { up: unresolvedAlerts },
})

async function agentTools(db: Kysely<unknown>, text: RawBuilder<unknown>): Promise<void> {
  await db.schema
    .alterTable('agents')
    .addColumn('tools', text, (c) => c.notNull().defaultTo('[]'))
    .execute()
}

async function agentLimits(db: Kysely<unknown>, text: RawBuilder<unknown>): Promise<void> {
  await db.schema
    .alterTable('agents')
    .addColumn('limits', text, (c) => c.notNull().defaultTo('[]'))
    .execute()
}

/** Of a token that was made before, no more is known than that it is not older than its agent. */
async function tokenAge(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable('agents')
    .addColumn('token_ms', 'bigint', (c) => c.notNull().defaultTo(0))
    .execute()
  await sql`update agents set token_ms = created_ms`.execute(db)
}

async function agentChanges(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable('agents')
    .addColumn('change_number', 'bigint', (c) => c.notNull().defaultTo(0))
    .execute()
  await index(db, 'agents_change', 'agents', ['change_number'])
}

async function sentArguments(db: Kysely<unknown>, text: RawBuilder<unknown>): Promise<void> {
  await db.schema.alterTable('approvals').addColumn('sent_json', text).execute()
}

async function agentReason(db: Kysely<unknown>, text: RawBuilder<unknown>): Promise<void> {
  await db.schema.alterTable('approvals').addColumn('agent_reason', text).execute()
}

async function hookTokens(db: Kysely<unknown>, text: RawBuilder<unknown>): Promise<void> {
  await db.schema.alterTable('user_tokens').addColumn('agent', text).execute()
}

/** Times are taken before a row is stored, and a transaction may end after later ones: neither says what is still to come. */
async function eventOrder(
  db: Kysely<unknown>,
  transactionNumber: RawBuilder<unknown>,
): Promise<void> {
  await db.schema
    .alterTable('shared_events')
    .addColumn('stored_by', 'bigint', (c) => c.notNull().defaultTo(transactionNumber))
    .execute()
  await index(db, 'shared_events_order', 'shared_events', ['stored_by', 'at_ms', 'id'])
}

async function unresolvedAlerts(db: Kysely<unknown>): Promise<void> {
  await index(
    ...([db, 'alerts_unresolved', 'alerts', ['dedup_key', 'created_ms', 'id']] as const),
    sql`status <> 'resolved'`,
  )
}

async function start(db: Kysely<unknown>, dialect: SchemaDialect): Promise<void> {
  const { text, byKey } = dialect
  await agentTables(db, text)
  await approvalTable(db, text)
  await peopleTables(db, text)
  await auditTables(db, text, byKey)
  await dialect.appendOnly(db, 'audit')
  await dialect.limitTables(db)
}

async function agentTables(db: Kysely<unknown>, text: RawBuilder<unknown>): Promise<void> {
  await db.schema
    .createTable('agents')
    .addColumn('name', text, (c) => c.notNull().primaryKey())
    .addColumn('purpose', text, (c) => c.notNull())
    .addColumn('status', text, (c) => c.notNull())
    .addColumn('approvals', text, (c) => c.notNull())
    .addColumn('workspace', text, (c) => c.notNull())
    .addColumn('mounts', text, (c) => c.notNull())
    .addColumn('created_ms', 'bigint', (c) => c.notNull())
    .addColumn('last_connected_ms', 'bigint')
    .addColumn('total_invocations', 'bigint', (c) => c.notNull())
    .addColumn('token_hash', text, (c) => c.notNull())
    .addColumn('previous_token_hash', text)
    .addColumn('previous_until_ms', 'bigint')
    .addColumn('generation', 'bigint', (c) => c.notNull())
    .execute()
  await index(db, 'agents_token', 'agents', ['token_hash'])
  await index(db, 'agents_previous_token', 'agents', ['previous_token_hash'])

  await db.schema
    .createTable('sessions')
    .addColumn('id', text, (c) => c.notNull().primaryKey())
    .addColumn('agent', text, (c) => c.notNull())
    .addColumn('transport', text, (c) => c.notNull())
    .addColumn('client', text)
    .addColumn('created_ms', 'bigint', (c) => c.notNull())
    .addColumn('ended_ms', 'bigint')
    .addColumn('invocations', 'bigint', (c) => c.notNull())
    .execute()
  await index(db, 'sessions_agent', 'sessions', ['agent', 'created_ms', 'id'])
  await index(db, 'sessions_open', 'sessions', ['agent'], sql`ended_ms is null`)
}

async function approvalTable(db: Kysely<unknown>, text: RawBuilder<unknown>): Promise<void> {
  await db.schema
    .createTable('approvals')
    .addColumn('id', text, (c) => c.notNull().primaryKey())
    .addColumn('agent', text, (c) => c.notNull())
    .addColumn('capability', text, (c) => c.notNull())
    .addColumn('arguments_json', text, (c) => c.notNull())
    .addColumn('bound_json', text, (c) => c.notNull())
    .addColumn('digest', text, (c) => c.notNull())
    .addColumn('call_key', text, (c) => c.notNull())
    .addColumn('requested_ms', 'bigint', (c) => c.notNull())
    .addColumn('expires_ms', 'bigint', (c) => c.notNull())
    .addColumn('expires_wall_ms', 'bigint', (c) => c.notNull())
    .addColumn('status', text, (c) => c.notNull())
    .addColumn('session_id', text)
    .addColumn('request_id', text, (c) => c.notNull())
    .addColumn('reason', text)
    .addColumn('rule', text)
    .addColumn('critical', 'smallint', (c) => c.notNull())
    .addColumn('preview', text)
    .addColumn('decided_ms', 'bigint')
    .addColumn('decided_by', text)
    .addColumn('decision_reason', text)
    .addColumn('execution', text, (c) => c.notNull())
    .addColumn('exec_id', text)
    .addColumn('result', text)
    .addColumn('result_text', text)
    .addColumn('delivered', 'smallint', (c) => c.notNull())
    .execute()
  await index(db, 'approvals_call', 'approvals', ['agent', 'call_key', 'requested_ms'])
  await index(db, 'approvals_status', 'approvals', ['status', 'requested_ms', 'id'])
  await index(db, 'approvals_time', 'approvals', ['requested_ms', 'id'])
  await index(
    db,
    'approvals_execution',
    'approvals',
    ['execution', 'requested_ms'],
    sql`status = 'approved'`,
  )
  await index(db, 'approvals_expiry', 'approvals', ['expires_ms'], sql`status = 'pending'`)
}

async function peopleTables(db: Kysely<unknown>, text: RawBuilder<unknown>): Promise<void> {
  await db.schema
    .createTable('user_tokens')
    .addColumn('id', text, (c) => c.notNull().primaryKey())
    .addColumn('label', text, (c) => c.notNull())
    .addColumn('role', text, (c) => c.notNull())
    .addColumn('token_hash', text, (c) => c.notNull())
    .addColumn('created_ms', 'bigint', (c) => c.notNull())
    .addColumn('last_used_ms', 'bigint')
    .addColumn('revoked_ms', 'bigint')
    .execute()
  await db.schema
    .createIndex('user_tokens_token')
    .on('user_tokens')
    .column('token_hash')
    .unique()
    .execute()

  await db.schema
    .createTable('meta')
    .addColumn('key', text, (c) => c.notNull().primaryKey())
    .addColumn('value', text, (c) => c.notNull())
    .execute()
}

/**
 * Cost of a commit is the pages it touches. Columns at the end of an index add none, another index
 * adds one for each of its keys in the group: so there is none by session, and `audit_agent` has it last.
 */
async function auditTables(
  db: Kysely<unknown>,
  text: RawBuilder<unknown>,
  byKey: RawBuilder<unknown>,
): Promise<void> {
  await db.schema
    .createTable('audit')
    .addColumn('chain', text, (c) => c.notNull())
    .addColumn('seq', 'bigint', (c) => c.notNull())
    .addColumn('id', text, (c) => c.notNull().unique())
    .addColumn('hash', text, (c) => c.notNull())
    .addColumn('body', text, (c) => c.notNull())
    .addColumn('timestamp', text, (c) => c.notNull())
    .addColumn('kind', text, (c) => c.notNull())
    .addColumn('agent', text, (c) => c.notNull())
    .addColumn('capability', text, (c) => c.notNull())
    .addColumn('result', text, (c) => c.notNull())
    .addColumn('policy_decision', text)
    .addColumn('session_id', text)
    .addColumn('duration_ms', 'double precision')
    .addColumn('intent_id', text)
    .addColumn('approval_id', text)
    .addPrimaryKeyConstraint('audit_pk', ['chain', 'seq'])
    .execute()
  // Columns after `seq` are there so that filters never touch the table for rows that they drop.
  const counted = ['timestamp', 'seq', 'result', 'policy_decision']
  await index(db, 'audit_time', 'audit', [...counted, 'kind'])
  await index(db, 'audit_agent', 'audit', ['agent', 'capability', ...counted, 'session_id'])
  await index(db, 'audit_capability', 'audit', ['capability', ...counted])
  await index(db, 'audit_outcome', 'audit', ['intent_id'], sql`intent_id is not null`)
  await index(
    db,
    'audit_intent',
    'audit',
    ['chain', 'seq'],
    sql`result = 'pending' and approval_id is null`,
  )

  await db.schema
    .createTable('audit_daily')
    .addColumn('chain', text, (c) => c.notNull())
    .addColumn('day', text, (c) => c.notNull())
    .addColumn('agent', text, (c) => c.notNull())
    .addColumn('capability', text, (c) => c.notNull())
    .addColumn('kind', text, (c) => c.notNull())
    .addColumn('result', text, (c) => c.notNull())
    .addColumn('policy_decision', text, (c) => c.notNull())
    .addColumn('rows', 'bigint', (c) => c.notNull())
    .addPrimaryKeyConstraint('audit_daily_pk', [
      'agent',
      'capability',
      'day',
      'kind',
      'result',
      'policy_decision',
      'chain',
    ])
    .modifyEnd(byKey)
    .execute()
  await db.schema
    .createTable('audit_folded')
    .addColumn('chain', text, (c) => c.notNull().primaryKey())
    .addColumn('through_seq', 'bigint', (c) => c.notNull())
    .execute()
}

async function operatorTables(db: Kysely<unknown>, text: RawBuilder<unknown>): Promise<void> {
  await db.schema
    .createTable('operators')
    .addColumn('name', text, (c) => c.notNull().primaryKey())
    .addColumn('role', text, (c) => c.notNull())
    .addColumn('password_hash', text, (c) => c.notNull())
    .addColumn('created_ms', 'bigint', (c) => c.notNull())
    .addColumn('password_changed_ms', 'bigint', (c) => c.notNull())
    // Unique where it is set: of two people with one setup link the second is refused.
    .addColumn('slot', text, (c) => c.unique())
    .execute()
  await db.schema
    .createTable('web_sessions')
    .addColumn('id_hash', text, (c) => c.notNull().primaryKey())
    .addColumn('operator', text, (c) => c.notNull())
    .addColumn('created_ms', 'bigint', (c) => c.notNull())
    .addColumn('expires_ms', 'bigint', (c) => c.notNull())
    .execute()
  await index(db, 'web_sessions_operator', 'web_sessions', ['operator'])
}
