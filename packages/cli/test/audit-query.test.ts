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
}
const page = {
  entries: [entry],
  total: 1,
  integrity: 'verified',
  verified_through: 1,
} as unknown as AuditPage

test.each([80, 100, 120, 200])(
  'shows the local time of entries in %i columns, and all of what they are about',
  (columns) => {
    const view = { isTTY: true, columns, coloured: false, next: (words: string) => words }
    const lines = inZone('Asia/Kolkata', () => auditQuery.text?.(page, view) ?? '').split('\n')
    expect(lines[0]).toMatch(/^TIME \(LOCAL\) /)
    expect(lines[1]).toMatch(/^2026-03-01 12:00:00Z \(17:30\) /)
    expect(lines.slice(1, 3).join('')).toContain(entry.arguments.path)
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(columns)
  },
)
