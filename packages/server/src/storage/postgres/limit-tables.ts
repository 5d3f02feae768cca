import { CompiledQuery, type Kysely } from 'kysely'

const runAll = async (db: Kysely<unknown>, statements: readonly string[]): Promise<void> => {
  for (const statement of statements) await db.executeQuery(CompiledQuery.raw(statement))
}

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
  await runAll(db, statements)
}

/**
 * Takes uses under all keys, as many of each as `uses` says, if none of them refuses any: the case of nearly every turn.
 * Answers with the moment of the uses of each key; with nothing where a key has no row yet, and with null where a limit
 * may refuse one of the uses, so that each has to be looked at by itself. A row of `limit_stamps` stands for the uses
 * `n - uses + 1` to `n` of its key, so the use that a window is full of is one look into the index.
 */
const takeAll = `
create function gatehouse_take_all(
  keys text[], limits bigint[], windows bigint[], uses bigint[], now_ms bigint
) returns bigint[] language plpgsql volatile as $$
declare
  there bigint;
  moments bigint[];
begin
  -- @SECURITY Rows are locked in one order before any is counted: without it two nodes both take the last use.
  perform from limit_keys k where k.key = any (keys) order by k.key for no key update;
  get diagnostics there = row_count;
  if there < cardinality(keys) then return '{}'; end if;
  if exists (
    select from unnest(keys, limits, windows, uses) as q (key, allowed, window_ms, uses)
    join limit_keys k on k.key = q.key
    where q.uses > q.allowed or exists (
      select from (
        select s.n - s.uses as before, s.at_ms from limit_stamps s
        where s.key = q.key and s.n >= k.n + q.uses - q.allowed order by s.n limit 1
      ) as last
      where last.before < k.n + q.uses - q.allowed
        and last.at_ms > greatest(now_ms, k.at_ms) - q.window_ms
    )
  ) then return null; end if;
  with moved as (
    update limit_keys k
    set n = k.n + q.uses, at_ms = greatest(now_ms, k.at_ms), window_ms = q.window_ms
    from unnest(keys, windows, uses) as q (key, window_ms, uses)
    where k.key = q.key returning k.key, k.n, k.at_ms, k.window_ms, q.uses
  ), added as (
    insert into limit_stamps (key, n, uses, at_ms, expires_ms)
    select m.key, m.n, m.uses, m.at_ms, m.at_ms + m.window_ms from moved m
  )
  select array_agg(m.at_ms order by q.place) into moments
  from unnest(keys) with ordinality as q (key, place) join moved m on m.key = q.key;
  return moments;
end $$`

/**
 * Takes uses one call after the other, each under all of its keys or under none; the keys of a call begin at its place
 * in `starts`. Answers for each call with the key that refuses it and the longest wait, or with the moment of each use;
 * with no row where a key has none yet.
 */
const takeEach = `
create function gatehouse_take_each(
  starts integer[], keys text[], limits bigint[], windows bigint[], now_ms bigint
) returns table (refused integer, wait_ms bigint, moments bigint[]) language plpgsql volatile as $$
declare
  there bigint;
  first integer;
  final integer;
  state record;
  blocking record;
  effective bigint;
begin
  -- @SECURITY As in gatehouse_take_all, and in the same order.
  perform from limit_keys k where k.key = any (keys) order by k.key for no key update;
  get diagnostics there = row_count;
  if there < (select count(distinct one) from unnest(keys) as one) then return; end if;
  for turn in 1 .. cardinality(starts) loop
    first := starts[turn];
    final := coalesce(starts[turn + 1] - 1, cardinality(keys));
    refused := null;
    wait_ms := 0;
    moments := '{}';
    for i in first .. final loop
      select k.n, k.at_ms into state from limit_keys k where k.key = keys[i];
      effective := greatest(now_ms, state.at_ms);
      select s.n - s.uses as before, s.at_ms into blocking from limit_stamps s
      where s.key = keys[i] and s.n >= state.n + 1 - limits[i] order by s.n limit 1;
      if blocking.before < state.n + 1 - limits[i] and blocking.at_ms > effective - windows[i]
         and blocking.at_ms + windows[i] - now_ms > wait_ms then
        refused := i - first + 1;
        wait_ms := blocking.at_ms + windows[i] - now_ms;
      end if;
    end loop;
    if refused is null then
      for i in first .. final loop
        -- Two limits of one key count one use once.
        if keys[i] = any (keys[first : i - 1]) then
          moments := moments || null::bigint;
          continue;
        end if;
        update limit_keys k
        set n = k.n + 1, at_ms = greatest(now_ms, k.at_ms), window_ms = windows[i]
        where k.key = keys[i] returning k.n, k.at_ms into state;
        insert into limit_stamps (key, n, uses, at_ms, expires_ms)
        values (keys[i], state.n, 1, state.at_ms, state.at_ms + windows[i]);
        moments := moments || state.at_ms;
      end loop;
    end if;
    return next;
  end loop;
end $$`

/** A row for each key, which those who count lock, and a stamp for the uses of a turn in the place of one for each use. */
export const limitsInBatches = (db: Kysely<unknown>): Promise<void> =>
  runAll(db, [
    'drop function gatehouse_take',
    `create table limit_keys (
       key text collate "C" not null primary key, n bigint not null,
       at_ms bigint not null, window_ms bigint not null) with (fillfactor = 50)`,
    'alter table limit_stamps add column uses bigint not null default 1',
    `insert into limit_keys (key, n, at_ms, window_ms)
     select key, max(n), max(at_ms), max(expires_ms - at_ms) from limit_stamps group by key`,
    takeAll,
    takeEach,
  ])
