import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Integrity } from '@gatehouse/contract'
import { startPostgres } from '@gatehouse/testkit'
import pg from 'pg'
import { afterAll, describe, expect, test } from 'vitest'
import { systemOp } from '../../src/app/call/op.ts'
import { listActivity } from '../../src/app/supervision/activity.ts'
import {
  proveAuditEntry,
  queryAudit,
  showAuditEntry,
} from '../../src/app/supervision/audit-access.ts'
import { getFigures } from '../../src/app/supervision/figures.ts'
import { indexFolder } from '../../src/log/entry-index/block-files.ts'
import { gapMax } from '../../src/log/entry-index/chains.ts'
import { verifyOffline } from '../../src/log/offline.ts'
import { draft, textOf } from '../../src/log/testing.ts'
import { createIds } from '../../src/platform/ids.ts'
import type { CommitGroup } from '../../src/ports/audit-rows.ts'
import type { Storage } from '../../src/ports/storage.ts'
import { createDatabase, query } from '../../src/storage/postgres/testing.ts'
import { type More, newFolder, openNodeAt } from './node-log-kit.ts'

const server = await startPostgres()
const url = 'url' in server ? server.url : ''
afterAll(async () => {
  if ('stop' in server) await server.stop()
})

/** What a root is made over, of each log. */
type Head = { readonly size: number }

const openNode = (
  directory: string,
  chain: string,
  { at = url, ...more }: More & { readonly at?: string } = {},
) => openNodeAt(at, directory, chain, more)

const gate = () => {
  let open = (): void => undefined
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { open, opened }
}

describe.skipIf('missing' in server)('two nodes on one PostgreSQL', () => {
  test('each finds the entries of both, newest first, from then on and after a restart', async () => {
    const folder = newFolder()
    await using one = await openNode(newFolder(), 'one')
    expect(await one.auditLog.verify()).not.toHaveProperty('logs')
    {
      await using two = await openNode(folder, 'two')
      for (const [i, node] of [one, two, one, two, one].entries()) {
        for (const { clock } of [one, two]) clock.move(1_000)
        await node.append(i < 3 ? 'early' : 'late')
      }
      const all = [5, 'one 2', 'two 1', 'one 1', 'two 0']
      expect([await one.seen(), await two.seen()]).toEqual([all, all])
      expect(await two.seen({ agent: 'late' })).toEqual([2, 'one 2', 'two 1'])
      expect(await two.seen({ offset: 3 })).toEqual([5, 'two 0', 'one 0'])
      const logs = { own: 'two', others: 1 }
      expect(await two.auditLog.verify()).toMatchObject({ verified_through: 1, logs })
      const [newest] = (await one.auditLog.query({ limit: 1, offset: 0 })).entries
      expect(await two.auditLog.find(newest?.id ?? '')).toEqual(newest)
      expect(await two.auditLog.rows.ends()).toEqual([
        { chain: 'one', next: 3 },
        { chain: 'two', next: 2 },
      ])
      const stats = await two.auditLog.rows.statsOf('early')
      expect(stats.by_capability).toMatchObject([{ capability: 'git.commit', calls: 3 }])
      const toMs = two.clock.wall() + 1
      const range = { agent: null, fromMs: toMs - 3_001, toMs, stepMs: 1_000 }
      const { signal } = new AbortController()
      const figures = await two.auditLog.figures(range, signal)
      expect(figures.calls).toEqual([1, 1, 1, 1])
      expect(await one.auditLog.figures(range, signal)).toEqual(figures)
    }
    expect(readdirSync(join(folder, indexFolder)).map((name) => name.slice(0, 3))).toEqual([
      'one',
      'two',
    ])
    await using two = await openNode(folder, 'two')
    await one.append('late')
    expect(await two.seen({ agent: 'late' })).toEqual([3, 'one 3', 'one 2', 'two 1'])
  })

  test('a copy that somebody changed is named by both, and shown by none as it was before', async () => {
    await using three = await openNode(newFolder(), 'three')
    await using four = await openNode(newFolder(), 'four')
    for (let i = 0; i < 3; i += 1) await three.append('bot')
    const filter = { agent: 'bot', limit: 9, offset: 0 }
    expect(await four.auditLog.query(filter)).toMatchObject({ total: 3, integrity: 'verified' })
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    await client.query(
      `update audit_copies set body = replace(body, '"bot"', '"her"') where chain = 'three' and seq = 1`,
    )
    await client.end()
    const range = { agent: 'bot', fromMs: 0, toMs: four.clock.wall() + 1, stepMs: 1e15 }
    const calls = async () =>
      (await four.auditLog.figures(range, new AbortController().signal)).calls
    await expect.poll(calls).toEqual([2])
    const integrity = async () => (await four.auditLog.query(filter)).integrity
    await expect.poll(integrity).toBe('failed')
    expect((await four.auditLog.query(filter)).total).toBe(2)
    expect(await three.auditLog.verify()).toMatchObject({
      integrity: 'failed',
      kind: 'modified',
      first_bad_seq: 1,
    })
  })

  /** A store that is slow with the next group, before and after it has it. */
  const slow = () => {
    const [before, asked, stored, after] = [gate(), gate(), gate(), gate()]
    let isSlow = false
    const change = (storage: Storage): void => {
      const { record } = storage
      Object.assign(storage, {
        record: async (group: CommitGroup) => {
          if (!isSlow) return record(group)
          asked.open()
          await before.opened
          await record(group)
          stored.open()
          await after.opened
        },
      })
    }
    return { change, before, asked, stored, after, begin: () => (isSlow = true) }
  }

  test('a verification takes nothing amiss of entries on their way to the database, and sees what was changed before them', async () => {
    const way = slow()
    await using node = await openNode(newFolder(), 'slow', { change: way.change })
    for (let i = 0; i < 3; i += 1) await node.append('bot')
    way.begin()
    const late = node.append('bot')
    await way.asked.opened
    expect(await node.auditLog.verify()).toMatchObject({ integrity: 'verified' })
    way.before.open()
    await way.stored.opened
    expect(await node.auditLog.verify()).toMatchObject({ integrity: 'verified' })
    await query(url, `delete from audit_copies where chain = 'slow' and seq = 1`)
    // What is found is mended once nothing is on its way.
    const { read } = node.storage.copies
    node.storage.copies.read = (chain, from, limit) => {
      way.after.open()
      return read(chain, from, limit)
    }
    expect(await node.auditLog.verify()).toMatchObject({ kind: 'missing', first_bad_seq: 1 })
    await late
    expect(await node.storage.copies.read('slow', 0, 9)).toHaveLength(4)
  })

  test('what retention took from one is gone from the database, and the other goes on from what is left', async () => {
    const day = 86_400_000
    const folder = newFolder()
    const rules = { maxAgeMs: 30 * day, maxBytes: null, exported: () => [] }
    const by = { actor: 'user:ann', request_id: 'req-9' }
    await using six = await openNode(newFolder(), 'six')
    const total = async () =>
      (await six.auditLog.query({ agent: 'five', limit: 1, offset: 0 })).total
    const copied = async () => (await six.storage.copies.read('five', 0, 1))[0]?.seq
    let removed = 0
    {
      await using five = await openNode(folder, 'five', { retention: rules })
      const text = 'x'.repeat(700)
      const append = () => five.auditLog.append(draft({ agent: 'five', arguments: { text } }))
      for (let i = 0; i < 20; i += 1) await Promise.all(Array.from({ length: 30 }, append))
      expect(await total()).toBe(600)
      five.clock.move(40 * day)
      await append()
      // The database fails while copies are removed: the log has removed them, and the next attempt ends it.
      const { copies } = five.storage
      const { removeBefore } = copies
      copies.removeBefore = () => Promise.reject(new Error('no connection'))
      await expect(five.auditLog.applyRetention(by)).rejects.toThrow('no connection')
      expect(await copied()).toBe(0)
      expect(await five.auditLog.verify()).toMatchObject({ integrity: 'verified' })
      copies.removeBefore = removeBefore
      removed = (await five.auditLog.applyRetention(by)).removed?.entries ?? 0
      expect(removed).toBeGreaterThan(200)
      expect(await copied()).toBe(removed)
      expect(await total()).toBe(601 - removed)
      expect(await five.auditLog.verify()).toMatchObject({ integrity: 'verified' })
    }
    const found = await six.auditLog.verify()
    expect(found).toMatchObject({ integrity: 'verified' })
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    const key = 'audit.removal.five'
    try {
      await client.query(`delete from meta where key = $1`, [key])
      const integrity = async () => (await six.auditLog.verify()).integrity
      await expect.poll(integrity).toBe('failed')
      await using five = await openNode(folder, 'five', { retention: rules })
      expect(await total()).toBe(601 - removed)
      await client.query(`update meta set value = replace(value, 'size', 'tail') where key = $1`, [
        key,
      ])
      expect(await five.auditLog.verify()).toMatchObject({
        integrity: 'failed',
        detail: expect.stringContaining('said of removed entries') as string,
      })
      const { rows } = await client.query(`select value from meta where key = $1`, [key])
      expect(rows[0]).toMatchObject({ value: expect.stringContaining('size') as string })
    } finally {
      await client.end()
    }
  })

  test('numbers that no entry can have, and statements of no form, are findings and stop nothing', async () => {
    await using database = await createDatabase(url)
    const at = database.url
    await using own = await openNode(newFolder(), 'own', { at })
    await using other = await openNode(newFolder(), 'other', { at })
    for (const node of [own, other]) for (let i = 0; i < 2; i += 1) await node.append('bot')
    const verdicts = async () => {
      const filter = { agent: 'bot', limit: 4, offset: 0 }
      const { total, integrity } = await own.auditLog.query(filter)
      const { kind, first_bad_id: id, detail } = await own.auditLog.verify()
      return { total, integrity, kind, id, detail }
    }
    const id = `aud-${'z'.repeat(26)}`
    const taken = 'this service did not write this copy of an entry; it was taken out'
    const none = (chain: string) => `in the log of ${chain}: no log has an entry of such a number`
    const [above, below] = [(2n ** 63n - 1n).toString(), (-(2n ** 63n)).toString()]
    const forged = [
      ['other', above, 'inserted', none('other')],
      ['own', above, 'inserted', taken],
      ['own', below, 'inserted', taken],
      ['other', (2n ** 53n).toString(), 'inserted', none('other')],
      // As many lost entries have no place in memory, and make no log so long that it is left out.
      [
        'other',
        '1000000000000',
        'missing',
        `in the log of other: 999999999998 entries are gone before ${id}`,
      ],
      ['nobody', above, 'inserted', none('nobody')],
      ['nobody', below, 'inserted', none('nobody')],
    ]
    for (const [chain, seq, kind, detail] of forged) {
      await query(at, `insert into audit_copies values ('${chain}', ${seq}, 'h', '{"id":"${id}"}')`)
      expect([chain, seq, await verdicts()]).toEqual([
        chain,
        seq,
        { total: 4, integrity: 'failed', kind, id, detail },
      ])
      await query(at, `delete from audit_copies where hash = 'h'`)
      await own.auditLog.acknowledge('we know')
      expect([chain, seq, (await own.auditLog.verify()).integrity]).toEqual([
        chain,
        seq,
        'verified',
      ])
    }

    // No process told these, so they say nothing; the one whose key that is names it and tells it again.
    for (const [name, value] of [
      ['root', 'null'],
      ['root', '{"chain":"other","seq":1e300}'],
      ['root', '{"chain":"other","seq":"1"}'],
      ['removal', 'null'],
      ['key', 'null'],
    ])
      await query(
        at,
        `insert into meta values ('audit.${name}.other', '${value}') on conflict (key) do update set value = excluded.value`,
      )
    expect(await own.auditLog.verify()).toMatchObject({
      integrity: 'failed',
      detail: 'the log of other has another key than under the root that own signed',
    })
    expect(await other.auditLog.verify()).toMatchObject({
      integrity: 'failed',
      detail: 'the database had another key of this log than its own; it was written anew',
    })
  })

  test('entries behind a gap that is too wide for the list are named by it, and are in an export', async () => {
    await using database = await createDatabase(url)
    const at = database.url
    await using own = await openNode(newFolder(), 'own', { at })
    {
      await using gone = await openNode(newFolder(), 'gone', { at })
      for (let i = 0; i < 3; i += 1) await gone.append('bot')
    }
    const { auditLog: audit, clock } = own
    const filter = { agent: 'bot', limit: 9, offset: 0 }
    const page = () => audit.query(filter)
    /** What an answer says that it lacks. */
    const lacks = (answer: object) => ('not_listed' in answer ? answer.not_listed : [])
    const op = systemOp({ ids: createIds(), signal: new AbortController().signal })
    const answers = async () => {
      const asked = await getFigures(op, { audit, clock }, {})
      const gateWatch = { withOthers: async (own: Integrity) => own, sign: async () => undefined }
      return [
        await queryAudit({ audit, gateWatch }, filter),
        await listActivity({ audit }, filter),
        'figures' in asked ? asked.figures : {},
      ].map(lacks)
    }
    const lookUps = (id: string) => [
      () => showAuditEntry({ audit }, { id }),
      () => proveAuditEntry({ audit, gateWatch: { sign: async () => undefined } }, { id }),
    ]
    const [last] = (await page()).entries
    const id = last?.id ?? ''
    expect(await answers()).toEqual([[], [], []])
    for (const look of lookUps('aud-0'))
      await expect(look()).rejects.toMatchObject({ type: 'NotFound' })
    const wide = 2 + gapMax + 1
    await query(at, `update audit_copies set seq = ${wide} where chain = 'gone' and seq = 2`)
    await expect.poll(async () => (await page()).integrity).toBe('failed')
    expect((await page()).total).toBe(2)
    const reason = `${gapMax + 1} entries are gone before number ${wide}, so that it and those after it are neither listed nor counted`
    const left = [{ log: 'gone', from: wide, reason, remedy: 'gatehouse audit export' }]
    expect(await answers()).toEqual([left, left, left])
    for (const look of lookUps(id))
      await expect(look()).rejects.toMatchObject({
        ...{ type: 'EntryNotListed', message: expect.stringContaining(reason) as string },
        recovery: [{ action: 'gatehouse audit export' }],
      })
    expect(await textOf(audit.export())).toContain(`"seq":${wide}`)
    await query(at, `update audit_copies set seq = ${wide - 1} where seq = ${wide}`)
    await expect.poll(async () => (await page()).total).toBe(3)
    expect(await answers()).toEqual([[], [], []])
    await expect(showAuditEntry({ audit }, { id })).rejects.toMatchObject({ type: 'AuditDamaged' })
  })

  test('in the background one of them reads many entries of others, and not each', async () => {
    await using database = await createDatabase(url)
    const at = database.url
    await using ten = await openNode(newFolder(), 'ten', { at })
    for (let i = 0; i < 21; i += 1)
      await Promise.all(Array.from({ length: 1_000 }, () => ten.append('bot')))
    const read = [0, 0]
    const counting = (which: number) => (storage: Storage) => {
      const { copies } = storage
      const { read: readCopies } = copies
      copies.read = async (...asked) => {
        const found = await readCopies(...asked)
        read[which] = (read[which] ?? 0) + found.length
        return found
      }
    }
    const more = (which: number) => ({ at, verifyEveryMs: 600_000, change: counting(which) })
    await using _eleven = await openNode(newFolder(), 'eleven', more(0))
    await using _twelve = await openNode(newFolder(), 'twelve', more(1))
    await expect.poll(() => Math.max(...read)).toBeGreaterThanOrEqual(21_000)
    expect(Math.min(...read)).toBeLessThan(1_000)
  })

  test('one of them makes a root over the logs of all, and both compare those with it', async () => {
    const [folder, kept] = [newFolder(), newFolder()]
    await using database = await createDatabase(url)
    const at = database.url
    {
      await using nine = await openNode(newFolder(), 'nine', { at })
      for (let i = 0; i < 2; i += 1) await nine.append('bot')
    }
    await using seven = await openNode(newFolder(), 'seven', { at })
    await seven.append('bot')
    const roots = async () =>
      (await seven.auditLog.query({ capability: 'audit.heads', limit: 9, offset: 0 })).entries
    const client = new pg.Client({ connectionString: at })
    await client.connect()
    try {
      {
        await using eight = await openNode(folder, 'eight', { at })
        await eight.append('bot')
        seven.clock.move(60_000)
        await expect.poll(async () => (await roots()).length).toBe(1)
        const [entry] = await roots()
        expect(entry?.arguments).toMatchObject({
          seven: { size: 1 },
          eight: { size: 1 },
          nine: { size: 2 },
        })
        const root = { chain: 'seven', entry: entry?.id, root: entry?.detail?.['root'] }
        // It is seen here before it is in the database.
        for (const { auditLog } of [seven, eight])
          await expect.poll(() => auditLog.verify()).toMatchObject({ integrity: 'verified', root })

        // Each proves entries of all, by the newest checkpoints that their nodes told.
        const idIn = async (chain: string, seq: number): Promise<string> =>
          (await seven.auditLog.rows.range(chain, seq, seq + 1, 1))[0]?.id ?? ''
        const all_logs = { chain: 'seven', logs: 3, index: 0 }
        for (const [at, chain] of ['eight', 'nine', 'seven'].entries())
          await expect
            .poll(async () => eight.auditLog.prove(await idIn(chain, 0)).catch(() => null))
            .toMatchObject({ seq: 0, all_logs: { ...all_logs, index: at, head: { chain } } })
        const late = await eight.append('bot')
        await expect(seven.auditLog.prove(late.id)).rejects.toThrow(
          'No checkpoint of the log of eight is over this entry yet.',
        )
        eight.clock.move(60_000)
        await expect
          .poll(() => seven.auditLog.prove(late.id).catch(() => null))
          .toMatchObject({ seq: 1, public_key: eight.auditLog.publicKey })

        // Another node makes one where that one has grown, and once its turn is over.
        const endTurn = () => client.query(`update meta set value = '' where key = 'audit.heads'`)
        await seven.append('bot')
        for (let i = 0; i < 3; i += 1) {
          eight.clock.move(60_000)
          await eight.auditLog.verify()
        }
        await seven.append('bot')
        await endTurn()
        const sizeOfSeven = async () => {
          eight.clock.move(60_000)
          return (await roots())[0]?.arguments['seven']
        }
        await expect.poll(sizeOfSeven).toMatchObject({ size: 4 })
        // One a minute, as far as that node knew of the others by then.
        const made = await roots()
        expect(new Set(made.map(({ chain }) => chain))).toEqual(new Set(['eight', 'seven']))
        // The entry about a root is no reason for the next one.
        for (let i = 0; i < 3; i += 1) {
          await endTurn()
          seven.clock.move(60_000)
          await seven.auditLog.verify()
        }
        expect(await roots()).toEqual(made)

        const named = async (detail: string) => {
          for (const { auditLog } of [seven, eight])
            await expect
              .poll(async () => (await auditLog.verify()).detail)
              .toBe(`the log of nine ${detail} the root that eight signed`)
        }
        const { rows } = await client.query(
          `delete from audit_copies where chain = 'nine'
            and seq = (select max(seq) from audit_copies where chain = 'nine') returning *`,
        )
        await named('is gone, up to the head of 2 entries under')
        const columns = Object.keys(rows[0] as object)
        await client.query(
          `insert into audit_copies (${columns.join()}) values (${columns.map((_, at) => `$${at + 1}`).join()})`,
          Object.values(rows[0] as object),
        )
        const swap = (from: string, to: string) =>
          client.query(
            `update meta set value = replace(value, '"chain":"${from}"', '"chain":"${to}"') where key = 'audit.key.nine'`,
          )
        await swap('nine', 'none')
        await named('has another key than under')
        await swap('none', 'nine')
        for (const { auditLog } of [seven, eight])
          await expect.poll(async () => (await auditLog.verify()).integrity).toBe('verified')
      }
      // The data directory of one is put back to before the last root was made.
      cpSync(folder, kept, { recursive: true })
      {
        await using eight = await openNode(folder, 'eight', { at })
        // A witness gets its last root, also where it asks before anybody else looked for that.
        const notes = await eight.auditLog.exportSource.notesAfter(0)
        expect(notes.filter(({ of }) => of === 'all logs')).toHaveLength(1)
        const { seq } = await eight.append('bot')
        const isUnderRoot = async () => {
          seven.clock.move(60_000)
          return (await roots()).some(
            ({ chain, arguments: { eight: head } }) =>
              chain === 'seven' && (head as Head).size > seq,
          )
        }
        await expect.poll(isUnderRoot).toBe(true)
      }
      await using _eight = await openNode(kept, 'eight', { at })
      await _eight.auditLog.verify()
      await expect
        .poll(async () => (await seven.auditLog.verify()).detail)
        .toMatch(
          /^the log of eight is gone, up to the head of \d+ entries under the root that seven/,
        )
    } finally {
      await client.end()
    }
  })

  test('what was found in the copies of a node that is gone is accepted at one of the others, for all of them', async () => {
    await using database = await createDatabase(url)
    const at = database.url
    const more = { at }
    {
      await using gone = await openNode(newFolder(), 'gone', more)
      for (let i = 0; i < 4; i += 1) await gone.append('bot')
    }
    let keyOfOne: string | null = 'one key'
    await using one = await openNode(newFolder(), 'one', { at, sharedKey: () => keyOfOne })
    await using two = await openNode(newFolder(), 'two', more)
    await using stranger = await openNode(newFolder(), 'stranger', {
      at,
      sharedKey: () => 'another key',
    })
    const nodes = [one, two]
    for (const node of [...nodes, stranger]) await node.append('bot')
    const found = async ({ auditLog }: typeof one) => {
      const { integrity, first_bad_log, first_bad_seq } = await auditLog.verify()
      return [integrity, first_bad_log, first_bad_seq]
    }
    const eachFinds = async (expected: readonly unknown[]) => {
      for (const node of nodes) await expect.poll(() => found(node)).toEqual(expected)
    }
    const sound = ['verified', undefined, undefined]
    const forge = (seq: number) =>
      query(
        at,
        `update audit_copies set body = replace(body, '"bot"', '"her"') where chain = 'gone' and seq = ${seq}`,
      )
    await eachFinds(sound)
    await forge(1)
    await eachFinds(['failed', 'gone', 1])

    const by = { actor: 'user:ann', request_id: 'req-1' }
    const refused = {
      ...{ type: 'Conflict', message: expect.stringContaining('no policy.key') as string },
      recovery: [{ action: 'copy policy.key' }, { action: 'gatehouse serve' }],
    }
    keyOfOne = null
    await expect(one.auditLog.acknowledge('without a key', by)).rejects.toMatchObject(refused)
    keyOfOne = 'one key'
    await eachFinds(['failed', 'gone', 1])
    await one.auditLog.acknowledge('the database was restored', by)
    expect(one.auditLog.health()).toMatchObject({ status: 'healthy' })
    // The other follows by itself, and shows a page with that entry as before.
    await expect
      .poll(() => {
        two.clock.move(5_000)
        return two.auditLog.health().status
      })
      .toBe('healthy')
    await eachFinds(sound)
    const filter = { agent: 'bot', limit: 9, offset: 0 }
    for (const { auditLog } of nodes)
      expect(await auditLog.query(filter)).toMatchObject({ integrity: 'verified' })
    // Of the one the entry about it is under its checkpoint, of the other under the root.
    for (const { auditLog } of nodes) {
      const exportFile = join(newFolder(), 'export.jsonl')
      writeFileSync(exportFile, await textOf(auditLog.export()))
      expect(await verifyOffline({ exportFile })).toMatchObject({
        ...{ integrity: 'verified', root: { chain: 'one' } },
        accepted: [{ log: 'gone', by: 'user:ann', reason: 'the database was restored' }],
      })
    }
    expect(await found(stranger)).toEqual(['failed', 'gone', 1])
    const acts = await two.auditLog.query({
      ...filter,
      agent: '',
      capability: 'audit.acknowledged',
    })
    expect(acts.entries).toMatchObject([
      { actor: 'user:ann', chain: 'one', arguments: { log: 'gone' } },
    ])

    await forge(3)
    await eachFinds(['failed', 'gone', 1])
    await two.auditLog.acknowledge('and again', by)
    await eachFinds(sound)
    await query(at, `delete from audit_copies where chain = 'gone' and seq >= 1`)
    await eachFinds(['failed', 'gone', 3])
    await one.auditLog.acknowledge('gone', by)
    await eachFinds(sound)
  })

  test('a log whose damage was accepted by its own node is accepted by the others, too', async () => {
    await using database = await createDatabase(url)
    const at = database.url
    const more = { at }
    const folder = newFolder()
    {
      await using hurt = await openNode(folder, 'hurt', more)
      for (let i = 0; i < 6; i += 1) await hurt.append('bot')
    }
    await using other = await openNode(newFolder(), 'other', more)
    await other.append('bot')
    const [segment = ''] = readdirSync(join(folder, 'segments'))
    const file = join(folder, 'segments', segment)
    const bytes = readFileSync(file)
    bytes.write('"her"', bytes.indexOf('"bot"', bytes.indexOf('"seq":3')))
    writeFileSync(file, bytes)
    await using hurt = await openNode(folder, 'hurt', more)
    expect(await hurt.auditLog.verify()).toMatchObject({ integrity: 'failed' })
    await hurt.auditLog.acknowledge('the disk was old')
    expect(await hurt.auditLog.verify()).toMatchObject({ integrity: 'verified' })
    await expect.poll(async () => (await other.auditLog.verify()).integrity).toBe('verified')
  })
})
