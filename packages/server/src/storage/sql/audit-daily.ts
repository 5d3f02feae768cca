import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { Tables } from './tables.ts'

/** What adds the rows of a chain up to `throughSeq` to the daily counts, to run in one transaction. */
export const foldStatements = (
  chain: string,
  throughSeq: number,
): readonly RawBuilder<unknown>[] => [
  sql`
    insert into audit_daily (chain, day, agent, capability, kind, result, policy_decision, rows)
    select chain, substr(timestamp, 1, 10), agent, capability, kind, result,
           coalesce(policy_decision, 'none'), count(*)
    from audit
    where chain = ${chain} and seq <= ${throughSeq}
      and seq > coalesce((select through_seq from audit_folded where chain = ${chain}), -1)
    group by chain, substr(timestamp, 1, 10), agent, capability, kind, result,
             coalesce(policy_decision, 'none')
    on conflict (agent, capability, day, kind, result, policy_decision, chain)
    do update set rows = audit_daily.rows + excluded.rows`,
  sql`
    insert into audit_folded (chain, through_seq) values (${chain}, ${throughSeq})
    on conflict (chain) do update set through_seq = excluded.through_seq`,
]

export const fold = async (
  db: Kysely<Tables>,
  chain: string,
  throughSeq: number,
): Promise<void> => {
  for (const statement of foldStatements(chain, throughSeq)) await statement.execute(db)
}

/**
 * The rows that are not in the daily counts yet, as `tail` of a query that begins with this. Materialized,
 * or a planner looks for the filter's rows in the whole log instead of for the tail's.
 */
export const withTail = sql`
  with recursive chains(chain) as (
    select min(chain) from audit
    union all
    select (select min(audit.chain) from audit where audit.chain > chains.chain)
    from chains where chains.chain is not null
  ),
  tail as materialized (
    select audit.timestamp, audit.agent, audit.capability, audit.kind, audit.result,
           audit.policy_decision
    from chains
    left join audit_folded on audit_folded.chain = chains.chain
    join audit on audit.chain = chains.chain and audit.seq > coalesce(audit_folded.through_seq, -1)
  )`
