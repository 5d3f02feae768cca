import type { AuditFilter } from '@gatehouse/contract'
import type { AuditRow } from '@gatehouse/server/ports/audit-rows'
import { describe, expect, test } from 'vitest'
import type { Open } from './opened.ts'
import { groupOf, indexed, rowOf, sessionOf } from './samples.ts'

const capabilities = [
  'filesystem.read',
  'filesystem.write',
  'filesystem_.x',
  'filesystem',
  'FILESYSTEM.read',
  'git.commit',
]

/** Rows in which every filter parts some from others; several share a moment. */
const varied: readonly AuditRow[] = Array.from({ length: 120 }, (_, seq) =>
  rowOf(seq, {
    timestamp: new Date(1_767_225_600_000 + Math.floor(seq / 3) * 250).toISOString(),
    agent: ['a', 'b', 'A'][seq % 3] as string,
    capability: capabilities[seq % 6] as string,
    result: ['success', 'error', 'denied', 'pending', 'rejected'][seq % 5] as string,
    policy_decision: ['autonomous', 'approval_required', 'blocked', 'none'][seq % 4] ?? 'none',
    session_id: seq % 7 === 0 ? null : `sess-${seq % 3}`,
  }),
)

const newestFirst = (rows: readonly AuditRow[]): AuditRow[] =>
  rows.toSorted((a, b) =>
    a.timestamp === b.timestamp ? b.seq - a.seq : a.timestamp < b.timestamp ? 1 : -1,
  )

type Case = readonly [name: string, filter: Partial<AuditFilter>, keep: (row: AuditRow) => boolean]

const at = (n: number): string => (varied[n] as AuditRow).timestamp

const cases: readonly Case[] = [
  ['nothing', {}, () => true],
  ['an agent', { agent: 'a' }, (r) => r.agent === 'a'],
  ['a capability', { capability: 'git.commit' }, (r) => r.capability === 'git.commit'],
  ['a group', { capability: 'filesystem.*' }, (r) => r.capability.startsWith('filesystem.')],
  ['everything by a star', { capability: '*' }, () => true],
  ['a wildcard of another language', { capability: 'filesystem.%' }, () => false],
  [
    'an agent and a capability',
    { agent: 'a', capability: 'filesystem.read' },
    (r) => r.agent === 'a' && r.capability === 'filesystem.read',
  ],
  [
    'an agent and a group',
    { agent: 'b', capability: 'filesystem.*' },
    (r) => r.agent === 'b' && r.capability.startsWith('filesystem.'),
  ],
  ['a result', { result: 'denied' }, (r) => r.result === 'denied'],
  ['a decision', { policy_decision: 'blocked' }, (r) => r.policy_decision === 'blocked'],
  ['no decision', { policy_decision: 'none' }, (r) => r.policy_decision === 'none'],
  ['a session', { session: 'sess-1' }, (r) => r.session_id === 'sess-1'],
  ['a session of another agent', { session: 'sess-1', agent: 'a' }, () => false],
  ['a session that nobody knows', { session: 'sess-9' }, () => false],
  ['a moment on', { since: at(60) }, (r) => r.timestamp >= at(60)],
  ['until a moment', { until: at(60) }, (r) => r.timestamp < at(60)],
  [
    'a span in another zone',
    { since: '2026-01-01T02:00:05+02:00', until: '2026-01-01 00:00:07' },
    (r) => r.timestamp >= '2026-01-01T00:00:05.000Z' && r.timestamp < '2026-01-01T00:00:07.000Z',
  ],
  [
    'all at once',
    {
      agent: 'b',
      capability: 'filesystem.*',
      result: 'error',
      policy_decision: 'approval_required',
      session: 'sess-1',
      since: at(0),
      until: at(119),
    },
    (r) =>
      r.agent === 'b' &&
      r.capability.startsWith('filesystem.') &&
      r.result === 'error' &&
      r.policy_decision === 'approval_required' &&
      r.session_id === 'sess-1' &&
      r.timestamp < at(119),
  ],
]

export const auditQueryMusts = (open: Open): void => {
  describe('audit queries', () => {
    test('give what a filter says, newest first, page by page, with the total', async () => {
      await using opened = await open()
      const { auditIndex, sessions } = opened.storage
      for (const [i, agent] of ['a', 'b', 'A'].entries())
        await sessions.insert(sessionOf(`sess-${i}`, agent))
      await opened.storage.indexGroup(groupOf(varied))
      for (const [name, filter, keep] of cases) {
        const expected = newestFirst(varied.filter(keep))
        for (const [limit, offset] of [
          [1_000, 0],
          [7, 0],
          [7, 5],
          [1, expected.length - 1],
          [5, expected.length],
        ] as const) {
          if (offset < 0) continue
          const found = await auditIndex.query({ ...filter, limit, offset })
          expect({ name, total: found.total }).toEqual({ name, total: expected.length })
          expect({ name, rows: found.rows.map(({ id }) => id) }).toEqual({
            name,
            rows: expected.slice(offset, offset + limit).map(({ id }) => id),
          })
        }
      }
      const [newest] = (await auditIndex.query({ limit: 1, offset: 0 })).rows
      expect(newest).toEqual(indexed(varied[119] as AuditRow))
    })

    test('give the total over many days, from and until moments within them', async () => {
      await using opened = await open()
      // About 40 minutes apart: 5,000 rows are some 139 days.
      const start = Date.parse('2026-01-01T00:00:00.000Z')
      const rows = Array.from({ length: 5_000 }, (_, seq) =>
        rowOf(seq, {
          timestamp: new Date(start + seq * 2_400_000).toISOString(),
          agent: seq % 2 ? 'a' : 'b',
          capability: seq % 3 ? 'filesystem.read' : 'git.commit',
          result: seq % 5 ? 'success' : 'denied',
          policy_decision: seq % 7 ? 'autonomous' : 'none',
        }),
      )
      await opened.storage.indexGroup(groupOf(rows.slice(0, 4_500)))
      await opened.storage.indexGroup(groupOf(rows.slice(4_500)))
      const moments = [
        undefined,
        '2026-01-01T00:00:00.000Z',
        '2026-02-03T00:00:00.000Z',
        '2026-02-03T12:34:56.789Z',
        '2026-02-03T13:00:00.000Z',
        '2026-03-04T23:59:59.999Z',
        '2026-05-18T20:00:00.000Z',
        '2027-01-01',
      ]
      for (const since of moments)
        for (const until of moments) {
          const filter = { capability: 'filesystem.*', policy_decision: 'autonomous' as const }
          const span = { ...(since && { since }), ...(until && { until }) }
          const found = await opened.storage.auditIndex.query({
            ...filter,
            ...span,
            limit: 1,
            offset: 0,
          })
          const expected = rows.filter(
            (r) =>
              r.capability === 'filesystem.read' &&
              r.policy_decision === 'autonomous' &&
              (since === undefined || r.timestamp >= since) &&
              (until === undefined || r.timestamp < until),
          )
          expect({ since, until, total: found.total }).toEqual({
            since,
            until,
            total: expected.length,
          })
        }
    })

    test('find every row of an agent that used more capabilities than a page has', async () => {
      await using opened = await open()
      const rows = Array.from({ length: 200 }, (_, seq) =>
        rowOf(seq, { capability: `made.up${seq}` }),
      )
      await opened.storage.indexGroup(groupOf(rows))
      const found = await opened.storage.auditIndex.query({ agent: 'mailbot', limit: 3, offset: 1 })
      expect(found.rows.map(({ seq }) => seq)).toEqual([198, 197, 196])
      expect(found.total).toBe(200)
    })

    test('refuse a moment that is none', async () => {
      await using opened = await open()
      const query = opened.storage.auditIndex.query({ since: 'yesterday', limit: 1, offset: 0 })
      await expect(query).rejects.toMatchObject({ type: 'InvalidParams' })
    })
  })
}
