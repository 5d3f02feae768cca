import { type Kysely, sql } from 'kysely'
import type { Tables } from './tables.ts'

/**
 * Statistics must not cost more as the log grows, and an entry must not cost more because of them: so
 * rows are added to the daily counts by the thousand, and who reads adds the few that are not in yet.
 */
const foldEvery = 2_048

/** Whether the row with this number is one after which its chain is folded. */
export const foldsAt = (seq: number): boolean => seq % foldEvery === 0

/** Adds the rows of a chain up to `throughSeq` to the daily counts, in the transaction that it is given. */
export const fold = async (
  db: Kysely<Tables>,
  chain: string,
  throughSeq: number,
): Promise<void> => {
  for (const text of foldTexts(chain, throughSeq)) await text.execute(db)
}

export const foldTexts = (chain: string, throughSeq: number) => [
  sql`
    insert into audit_daily (agent, capability, day, chain, calls, failures)
    select agent, capability, substr(timestamp, 1, 10), chain,
           count(*), count(case when result = 'error' then 1 end)
    from audit
    where chain = ${chain} and seq <= ${throughSeq}
      and seq > coalesce((select through_seq from audit_folded where chain = ${chain}), -1)
      and kind = 'call' and result in ('success', 'error')
    group by agent, capability, substr(timestamp, 1, 10), chain
    on conflict (agent, capability, day, chain) do update
    set calls = audit_daily.calls + excluded.calls,
        failures = audit_daily.failures + excluded.failures`,
  sql`
    insert into audit_folded (chain, through_seq) values (${chain}, ${throughSeq})
    on conflict (chain) do update set through_seq = excluded.through_seq`,
]

/** The counts of an agent by capability, or by day: folded ones and the tail of each chain. */
export const dailyCounts = async (
  db: Kysely<Tables>,
  agent: string,
  by: 'capability' | 'day',
  limit: number,
): Promise<
  readonly { readonly of: string; readonly calls: number; readonly failures: number }[]
> => {
  const key = sql.ref(by)
  const { rows } = await sql<{ of: string; calls: number; failures: number }>`
    with recursive chains(chain) as (
      select min(chain) from audit
      union all
      select (select min(audit.chain) from audit where audit.chain > chains.chain)
      from chains where chains.chain is not null
    ),
    counted as (
      select capability, day, calls, failures from audit_daily where agent = ${agent}
      union all
      select audit.capability, substr(audit.timestamp, 1, 10), 1,
             case when audit.result = 'error' then 1 else 0 end
      from chains
      left join audit_folded on audit_folded.chain = chains.chain
      join audit on audit.chain = chains.chain and audit.seq > coalesce(audit_folded.through_seq, -1)
      where audit.agent = ${agent} and audit.kind = 'call' and audit.result in ('success', 'error')
    )
    select ${key} as "of", cast(sum(calls) as bigint) as calls, cast(sum(failures) as bigint) as failures
    from counted group by ${key} order by ${key} desc limit ${limit}`.execute(db)
  return rows.toReversed()
}
