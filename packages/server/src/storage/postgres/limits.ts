import { CompiledQuery, type Kysely, sql } from 'kysely'
import type { LimitKey, RateLimits } from '../../ports/limits.ts'
import type { Tables } from '../sql/tables.ts'
import { encodeText } from '../sql/text.ts'

/** Every so many uses, a node removes expired stamps of keys that nobody uses any more. */
const pruneEvery = 64
const pruneMax = 512
/** Clocks of nodes differ a little: a stamp that is expired here may not be elsewhere. */
const skewMs = 60_000

/**
 * Takes a use under all keys or under none. `n` counts the uses of a key, so the stamp that a window is
 * full of is one look into the index, however large the limit is. Answers with the refusing key whose
 * wait is the longest, or with the moment of each use.
 */
const takeFunction = `
create function gatehouse_take(keys text[], limits bigint[], windows bigint[], now_ms bigint)
returns table (refused integer, wait_ms bigint, at_ms bigint) language plpgsql volatile as $$
declare
  worst integer := null;
  worst_wait bigint := 0;
  newest record;
  blocking bigint;
  effective bigint;
begin
  -- @SECURITY One at a time for each key, in one order: without it two nodes both take the last use.
  perform pg_advisory_xact_lock(h) from (
    select distinct hashtextextended(k, 7700) as h from unnest(keys) as k order by h
  ) as locks;
  for i in 1 .. cardinality(keys) loop
    select s.n, s.at_ms into newest from limit_stamps s where s.key = keys[i] order by s.n desc limit 1;
    continue when newest.n is null;
    effective := greatest(now_ms, newest.at_ms);
    select s.at_ms into blocking from limit_stamps s where s.key = keys[i] and s.n = newest.n - limits[i] + 1;
    if blocking is not null and blocking > effective - windows[i]
       and blocking + windows[i] - now_ms > worst_wait then
      worst := i;
      worst_wait := blocking + windows[i] - now_ms;
    end if;
  end loop;
  if worst is not null then
    return query select worst, worst_wait, null::bigint;
    return;
  end if;
  for i in 1 .. cardinality(keys) loop
    -- Two limits of one key count one use once.
    if keys[i] = any (keys[1 : i - 1]) then
      return query select null::integer, null::bigint, null::bigint;
      continue;
    end if;
    select s.n, s.at_ms into newest from limit_stamps s where s.key = keys[i] order by s.n desc limit 1;
    effective := greatest(now_ms, coalesce(newest.at_ms, now_ms));
    delete from limit_stamps s where s.key = keys[i] and s.n in (
      select o.n from limit_stamps o
      where o.key = keys[i] and o.at_ms <= effective - windows[i] and o.n < newest.n
      order by o.n limit 4
    );
    insert into limit_stamps (key, n, at_ms, expires_ms)
    values (keys[i], coalesce(newest.n, 0) + 1, effective, effective + windows[i]);
    return query select null::integer, null::bigint, effective;
  end loop;
end $$`

export const createLimitTables = async (db: Kysely<unknown>): Promise<void> => {
  const statements = [
    `create table limit_stamps (
       key text collate "C" not null, n bigint not null,
       at_ms bigint not null, expires_ms bigint not null, primary key (key, n))`,
    'create index limit_stamps_expiry on limit_stamps (expires_ms)',
    takeFunction,
  ]
  for (const statement of statements) await db.executeQuery(CompiledQuery.raw(statement))
}

type Taken = { refused: number | null; wait_ms: number | null; at_ms: number | null }

/** Nodes share the windows, so the database counts; a use is stored when it is taken. */
export const postgresLimits = (db: Kysely<Tables>): RateLimits => {
  let uses = 0
  const prune = (nowMs: number) =>
    sql`delete from limit_stamps where ctid = any (array(
          select ctid from limit_stamps where expires_ms <= ${nowMs - skewMs}
          order by expires_ms limit ${pruneMax}))`.execute(db)

  return {
    async take(keys, nowMs) {
      if (keys.length === 0) return { kind: 'allowed', stamps: [] }
      const [names, limits, windows] = [
        keys.map(({ key }) => encodeText(key)),
        keys.map(({ limit }) => limit),
        keys.map(({ window_ms }) => window_ms),
      ]
      const { rows } = await sql<Taken>`
        select * from gatehouse_take(${names}, ${limits}, ${windows}, ${nowMs})`.execute(db)
      const refused = rows[0]?.refused ?? null
      if (refused !== null)
        return {
          kind: 'limited',
          key: keys[refused - 1] as LimitKey,
          retry_after_ms: rows[0]?.wait_ms ?? 0,
        }
      if (++uses % pruneEvery === 0) await prune(nowMs)
      const stamps = keys.flatMap(({ key, window_ms }, i) => {
        const at_ms = rows[i]?.at_ms ?? null
        return at_ms === null ? [] : [{ key, window_ms, at_ms }]
      })
      return { kind: 'allowed', stamps }
    },

    restore() {},

    async used({ key, window_ms }, nowMs) {
      const { rows } = await sql<{ used: number }>`
        select count(*) as used from limit_stamps
        where key = ${encodeText(key)} and at_ms > ${window_ms * -1}::bigint + greatest(${nowMs}::bigint,
          (select max(at_ms) from limit_stamps where key = ${encodeText(key)}))`.execute(db)
      return rows[0]?.used ?? 0
    },
  }
}
