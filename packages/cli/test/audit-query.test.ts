import type { AuditPage } from '@gatehouse/contract'
import { expect, test } from 'vitest'
import { auditQuery } from '../src/commands/audit-query.ts'
import { inZone } from './in-zone.ts'

const entry = {
  id: 'aud-01jqz4xk2m8v5w9r3t6y0b7n1c',
  timestamp: '2026-03-01T12:00:00.000Z',
  agent: 'mailbot',
  capability: 'filesystem.write',
  arguments: { path: 'notes/a/fairly/long/path/of/a/file.txt' },
  result: 'success',
  policy_decision: 'approval_required',
  actor: 'user:ana',
  detail: null,
}
const pageOf = (...entries: readonly object[]) =>
  ({
    entries,
    total: entries.length,
    integrity: 'verified',
    verified_through: 1,
  }) as unknown as AuditPage
const linesOf = (columns: number, shown: AuditPage): readonly string[] => {
  const view = { isTTY: true, columns, coloured: false, next: (words: string) => words }
  return inZone('Asia/Kolkata', () => auditQuery.text?.(shown, view) ?? '').split('\n')
}

test.each([80, 100, 120, 200])(
  'shows the local time of entries in %i columns, and all of what they are about',
  (columns) => {
    const lines = linesOf(columns, pageOf(entry))
    expect(lines[0]).toMatch(/^TIME \(LOCAL\) /)
    expect(lines[1]).toMatch(/^2026-03-01 12:00:00Z \(17:30\) /)
    expect(lines.slice(1, 3).join('')).toContain(entry.arguments.path)
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(columns)
  },
)

test.each([
  ['another day than in UTC', { timestamp: '2026-03-01T20:00:00.000Z' }, '(03-02 01:30 local)'],
  ['beside a long name', { agent: 'first-agent' }, '(17:30 local)'],
])('shows the local time in 80 columns on %s', (_when, change, local) => {
  const lines = linesOf(80, pageOf({ ...entry, ...change }))
  expect(lines[2]).toBe(`  ${local} filesystem.write ${entry.arguments.path}`)
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80)
})

test.each([
  [undefined, 'The log is verified through entry 1.'],
  [
    { own: 'node-a', others: 1 },
    'The log of node-a is verified through entry 1; nothing is wrong with the other one.',
  ],
  [
    { own: 'node-a', others: 3 },
    'The log of node-a is verified through entry 1; nothing is wrong with the other 3.',
  ],
])('says of %j whose entries those are that were counted', (logs, verdict) => {
  expect(linesOf(120, { ...pageOf(entry), ...(logs ? { logs } : {}) }).at(-1)).toBe(verdict)
})

test.each([
  ['an entry', { first_bad_id: 'aud-1', detail: 'the hash differs' }, 'modified, first at aud-1.'],
  ['no entry', { detail: 'node-b found: a byte' }, 'modified, node-b found: a byte.'],
])('names the finding of %s', (_what, found, said) => {
  const page = { ...pageOf(entry), integrity: 'failed', kind: 'modified', ...found } as const
  expect(linesOf(120, page).at(-1)).toBe(`THE LOG IS NOT VERIFIED: ${said} See: audit verify`)
})

test('says of a log without entries that it has none', () => {
  expect(linesOf(120, { ...pageOf(), verified_through: -1 }).at(-1)).toBe('The log is empty.')
})

test('says whom a mail goes to that a person changed, and what an id stands for', () => {
  const edited = {
    ...entry,
    capability: 'approval.edited',
    arguments: { to: ['ana@a.example'], subject: 'Private' },
    detail: { capability: 'email.send', object: 'to ana@a.example', digest: 'sha256:0' },
  }
  const stopped = {
    ...entry,
    capability: 'process.kill',
    arguments: { process_id: 'proc-1' },
    detail: { object: 'python3 server.py' },
  }
  const text = linesOf(200, pageOf(edited, stopped)).join('\n')
  expect(text).toContain('approval.edited email.send to ana@a.example')
  expect(text).toContain('process.kill python3 server.py')
})
