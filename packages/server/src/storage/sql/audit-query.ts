import type { AuditFilter } from '@gatehouse/contract'
import { type Expression, type ExpressionBuilder, type Kysely, type SqlBool, sql } from 'kysely'
import type { AuditIndex } from '../../ports/audit-rows.ts'
import { type AuditConditions, auditConditions } from '../filter.ts'
import { fromIndexRow } from './audit-codec.ts'
import { countAudit } from './audit-count.ts'
import type { AuditTable, Tables } from './tables.ts'
import { afterPrefix, decodeText, encodeText } from './text.ts'

/** More names than this and a page is sorted instead of merged. */
const branchesMax = 64

type Eb = ExpressionBuilder<Tables, 'audit'>

const range = (eb: Eb, prefix: string): Expression<SqlBool>[] => {
  const [from, to] = [encodeText(prefix), afterPrefix(encodeText(prefix))]
  const above = eb('capability', '>=', from)
  return to === null ? [above] : [above, eb('capability', '<', to)]
}

const conditions =
  (on: AuditConditions) =>
  (eb: Eb): Expression<SqlBool> => {
    const all: Expression<SqlBool>[] = []
    if (on.agent !== null) all.push(eb('agent', '=', encodeText(on.agent)))
    if (on.capability?.kind === 'exact')
      all.push(eb('capability', '=', encodeText(on.capability.name)))
    if (on.capability?.kind === 'prefix') all.push(...range(eb, on.capability.prefix))
    if (on.since !== null) all.push(eb('timestamp', '>=', on.since))
    if (on.until !== null) all.push(eb('timestamp', '<', on.until))
    if (on.result !== null) all.push(eb('result', '=', on.result))
    if (on.policy_decision !== null) all.push(eb('policy_decision', '=', on.policy_decision))
    if (on.session !== null) all.push(eb('session_id', '=', encodeText(on.session)))
    if (on.events)
      all.push(
        eb.or([
          eb('result', '!=', 'pending'),
          eb('policy_decision', 'is distinct from', 'autonomous'),
        ]),
      )
    return eb.and(all)
  }

/** A session is one agent's, and the index of agents has sessions in it: none other is needed. */
const withAgentOfSession = async (
  db: Kysely<Tables>,
  on: AuditConditions,
): Promise<AuditConditions> => {
  if (on.session === null || on.agent !== null) return on
  const session = await db
    .selectFrom('sessions')
    .select('agent')
    .where('id', '=', encodeText(on.session))
    .executeTakeFirst()
  return session ? { ...on, agent: decodeText(session.agent) } : on
}

/** The stored names of the capabilities that match, by one index seek each. */
const capabilityNames = async (db: Kysely<Tables>, on: AuditConditions): Promise<string[]> => {
  const prefix = on.capability?.kind === 'prefix' ? encodeText(on.capability.prefix) : null
  const to = prefix === null ? null : afterPrefix(prefix)
  const ofAgent = on.agent === null ? sql`true` : sql`agent = ${encodeText(on.agent)}`
  const below = to === null ? sql`true` : sql`capability < ${to}`
  const { rows } = await sql<{ name: string }>`
    with recursive names(name) as (
      select min(capability) from audit where ${ofAgent} and capability >= ${prefix ?? ''} and ${below}
      union all
      select (select min(capability) from audit where ${ofAgent} and capability > names.name and ${below})
      from names where names.name is not null
    )
    select name from names where name is not null limit ${branchesMax + 1}`.execute(db)
  return rows.map((row) => row.name)
}

const page = async (
  db: Kysely<Tables>,
  on: AuditConditions,
  { limit, offset }: Pick<AuditFilter, 'limit' | 'offset'>,
): Promise<readonly AuditTable[]> => {
  const merges = on.capability?.kind === 'prefix' || (on.agent !== null && on.capability === null)
  const names = merges ? await capabilityNames(db, on) : []
  if (!merges || names.length > branchesMax)
    return db
      .selectFrom('audit')
      .selectAll()
      .where(conditions(on))
      .orderBy('timestamp', 'desc')
      .orderBy('seq', 'desc')
      .limit(limit)
      .offset(offset)
      .execute()

  // No index has all capabilities of an agent (or all of a group) by time, but each alone is in order:
  // the page is merged from the newest of each, which costs the same however long the log is.
  const newestOf = (name: string) =>
    db
      .selectFrom((eb) =>
        eb
          .selectFrom('audit')
          .select(['chain', 'seq', 'timestamp'])
          .where(conditions({ ...on, capability: null }))
          .where('capability', '=', name)
          .orderBy('timestamp', 'desc')
          .orderBy('seq', 'desc')
          .limit(limit + offset)
          .as('newest'),
      )
      .selectAll()
  const [first, ...rest] = names.map(newestOf)
  if (!first) return []
  const merged = rest.reduce((all, branch) => all.unionAll(branch), first)
  return db
    .selectFrom((eb) =>
      eb
        .selectFrom(merged.as('merged'))
        .selectAll()
        .orderBy('timestamp', 'desc')
        .orderBy('seq', 'desc')
        .limit(limit)
        .offset(offset)
        .as('page'),
    )
    .innerJoin('audit', (join) =>
      join.onRef('audit.chain', '=', 'page.chain').onRef('audit.seq', '=', 'page.seq'),
    )
    .selectAll('audit')
    .orderBy('audit.timestamp', 'desc')
    .orderBy('audit.seq', 'desc')
    .execute()
}

/** Sessions are not in the daily counts; the index of their agent has them. */
const totalOf = async (db: Kysely<Tables>, on: AuditConditions): Promise<number> => {
  if (on.session === null) return countAudit(db, on)
  const { total } = await db
    .selectFrom('audit')
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .where(conditions(on))
    .executeTakeFirstOrThrow()
  return total
}

export const queryAudit = async (
  db: Kysely<Tables>,
  filter: AuditFilter,
): ReturnType<AuditIndex['query']> => {
  const on = await withAgentOfSession(db, auditConditions(filter))
  const total = await totalOf(db, on)
  if (filter.offset >= total) return { rows: [], total }
  const rows = await page(db, on, filter)
  return { rows: rows.map(fromIndexRow), total }
}

/** What people watch: every entry but the intents, which are counted apart so that a total stays cheap. */
export const queryActivity = async (
  db: Kysely<Tables>,
  { agent, limit, offset }: Parameters<AuditIndex['activity']>[0],
): ReturnType<AuditIndex['activity']> => {
  const on = {
    ...auditConditions({ ...(agent === undefined ? {} : { agent }), limit, offset }),
    events: true,
  }
  const intents = { ...on, result: 'pending', policy_decision: 'autonomous' }
  const total = (await countAudit(db, on)) - (await countAudit(db, intents))
  if (offset >= total) return { rows: [], total }
  return { rows: (await page(db, on, { limit, offset })).map(fromIndexRow), total }
}
