import type { AuditEntry } from '@gatehouse/contract'
import { makeTemporaryFolder } from '@gatehouse/testkit/temporary-folder'
import { expect, test } from 'vitest'
import { genesis, type LogState } from '../domain/audit/chain.ts'
import type { ChainHead } from '../domain/audit/heads-root.ts'
import { loadKeys } from './keys.ts'
import {
  findMisfit,
  headsAct,
  isSigned,
  keyPrint,
  type PresentLogs,
  type RecordedRoot,
  readRecordedRoot,
  recordRoot,
  shownRoot,
} from './recorded-root.ts'
import { signRoot } from './root-note.ts'

// A root over the heads of all logs: how it is recorded, who may have signed it, and what it says of the logs later.

const [keys, others] = [loadKeys(makeTemporaryFolder()), loadKeys(makeTemporaryFolder())]
const hashOf = (seq: number) => seq.toString(16).padStart(64, '0')
const print = keyPrint(keys.raw)

const heads: readonly ChainHead[] = [
  { chain: 'first', size: 9, head: hashOf(8), key: print },
  { chain: 'second', size: 4, head: hashOf(3), key: '' },
]

/** The entry as a reader of the log has it. */
const entryOf = (draft: ReturnType<typeof recordRoot>, more: Partial<AuditEntry> = {}) =>
  ({
    ...{ ...draft, chain: 'first', seq: 9, id: 'aud-9', timestamp: '2026-01-01T00:00:00.000Z' },
    ...more,
  }) as unknown as AuditEntry

const recordedOf = (all = heads, by = keys): RecordedRoot =>
  readRecordedRoot(entryOf(recordRoot({ chain: 'first', store: 'db-1', heads: all }, by))) ??
  expect.fail('nothing is recorded')

/** Logs that are as the heads say, but for what a test changes. */
const logs = (change: Partial<PresentLogs> = {}): PresentLogs => ({
  isTold: () => true,
  hashAt: async (_chain, seq) => hashOf(seq),
  start: () => ({ size: 0, head: genesis, peaks: [] }),
  key: () => keys,
  ...change,
})

test('a root is recorded with every head under it, and is read as it was recorded', () => {
  const draft = recordRoot({ chain: 'first', store: 'db-1', heads }, keys)
  expect(draft).toMatchObject({
    capability: 'audit.heads',
    arguments: {
      first: { size: 9, head: `sha256:${hashOf(8)}`, key: `sha256:${print}` },
      second: { size: 4, head: `sha256:${hashOf(3)}`, key: null },
    },
    detail: {
      root: expect.stringMatching(/^sha256:[0-9a-f]{64}$/) as string,
      note: expect.stringMatching(/^gatehouse\/heads\/first\n2\n.{44}\n9\n\n— /) as string,
      store: 'db-1',
    },
  })
  const recorded = recordedOf()
  expect(recorded).toEqual({
    ...{ chain: 'first', seq: 9, id: 'aud-9', timestamp: '2026-01-01T00:00:00.000Z' },
    ...{ store: 'db-1', heads, root: expect.any(String) as string, note: draft.detail?.['note'] },
  })
  expect(shownRoot(recorded)).toEqual({
    ...{ root: draft.detail?.['root'], logs: 2, chain: 'first', entry: 'aud-9' },
    signed_at: '2026-01-01T00:00:00.000Z',
  })
  // A process that has no entry of its own yet signs a size of 0.
  const strange = recordRoot({ chain: 'third', store: '', heads }, keys).detail?.['note']
  expect(strange).toMatch(/^gatehouse\/heads\/third\n2\n.{44}\n0\n/)
})

test('an entry that records no root is none, and what is missing of one is nothing', () => {
  const draft = recordRoot({ chain: 'first', store: 'db-1', heads }, keys)
  const { detail } = draft
  for (const more of [
    { capability: 'audit.head' },
    { detail: null },
    { detail: { ...detail, root: 7 } },
    { detail: { ...detail, note: null } },
  ] as Partial<AuditEntry>[])
    expect(readRecordedRoot(entryOf(draft, more))).toBeNull()
  const bare = { ...detail, store: 7 }
  const read = (told: unknown) =>
    readRecordedRoot(entryOf(draft, { arguments: told, detail: bare } as Partial<AuditEntry>))
  expect(read(null)).toMatchObject({ heads: [], store: '' })
  expect(read({ first: null, second: { size: '4', head: 7 } })?.heads).toEqual([
    { chain: 'first', size: Number.NaN, head: '', key: '' },
    { chain: 'second', size: 4, head: '', key: '' },
  ])
  expect(headsAct).toBe('audit.heads')
})

test('a root counts where the process that recorded it has signed just this', () => {
  const recorded = recordedOf()
  expect(isSigned(recorded, keys)).toBe(true)
  const [first, second] = heads as [ChainHead, ChainHead]
  const changes: Partial<RecordedRoot>[] = [
    { chain: 'second' },
    { heads: [first] },
    { heads: [first, { ...second, size: 3 }] },
    { root: recorded.root.replace(/^./, (digit) => (digit === '0' ? '1' : '0')) },
    { note: '' },
    { note: `${recorded.note}\n${recorded.note}` },
    { note: recordedOf([first]).note },
    { note: recordedOf(heads, others).note },
    { note: recordedOf([first, { ...second, size: 3 }]).note },
    { note: signRoot({ chain: 'first', logs: 3, root: recorded.root, size: 9 }, keys).note },
  ]
  for (const change of changes) expect(isSigned({ ...recorded, ...change }, keys)).toBe(false)
  expect(isSigned(recorded, others)).toBe(false)
  expect(isSigned(recorded, null)).toBe(false)
})

test('logs that are as a root says fit it, and what retention took away is not compared', async () => {
  const recorded = recordedOf()
  expect(await findMisfit(recorded, logs())).toBeNull()
  const begins = (size: number, head: string) => (): LogState => ({ size, head, peaks: [] })
  const hashAt = async () => null
  const second = (start: () => LogState) =>
    logs({ hashAt, start, isTold: (chain) => chain === 'second' })
  expect(await findMisfit(recorded, second(begins(4, hashOf(3))))).toBeNull()
  expect(await findMisfit(recorded, second(begins(5, hashOf(4))))).toBeNull()
  expect(await findMisfit(recorded, second(begins(4, hashOf(7))))).toMatchObject({
    ...{ kind: 'modified', seq: 3, log: 'second' },
  })
  expect(await findMisfit(recorded, second(begins(3, hashOf(2))))).toMatchObject({
    ...{ kind: 'truncated', seq: 3, log: 'second' },
  })
})

test('a root that its process did not sign is a finding in the log that has it', async () => {
  expect(await findMisfit(recordedOf(), logs({ key: () => others }))).toEqual({
    ...{ kind: 'modified', seq: 9, id: 'aud-9', log: 'first' },
    detail: 'the root over all logs that first recorded is not the one that its key signed',
  })
})

test('a log that ends before a root, or is another than under it, is a finding in that log', async () => {
  const hashAt = (found: string | null) => async (chain: string, seq: number) =>
    chain === 'second' ? found : hashOf(seq)
  expect(await findMisfit(recordedOf(), logs({ hashAt: hashAt(null) }))).toEqual({
    ...{ kind: 'truncated', seq: 3, id: null, log: 'second' },
    detail:
      'the log of second is gone, up to the head of 4 entries under the root that first signed',
  })
  expect(await findMisfit(recordedOf(), logs({ hashAt: hashAt(hashOf(7)) }))).toEqual({
    ...{ kind: 'modified', seq: 3, id: null, log: 'second' },
    detail:
      'the log of second is another than the head of 4 entries under the root that first signed',
  })
  const isTold = (chain: string) => chain !== 'second'
  expect(await findMisfit(recordedOf(), logs({ hashAt: hashAt(null), isTold }))).toBeNull()
})

test('a log with another key than under a root is a finding, one whose key was not known then is none', async () => {
  const key = (own: PresentLogs['key']) =>
    logs({ key: (chain) => (chain === 'first' ? keys : own(chain)) })
  expect(
    await findMisfit(
      recordedOf(),
      key(() => others),
    ),
  ).toBeNull()
  const [first, second] = heads as [ChainHead, ChainHead]
  const known = recordedOf([first, { ...second, key: print }])
  expect(await findMisfit(known, logs())).toBeNull()
  for (const own of [() => others, () => null])
    expect(await findMisfit(known, key(own))).toEqual({
      ...{ kind: 'modified', seq: 0, id: null, log: 'second' },
      detail: 'the log of second has another key than under the root that first signed',
    })
})

test('a log that was accepted after a root is compared with how it was accepted', async () => {
  const recorded = recordedOf()
  const asked: unknown[] = []
  const hashAt = async (chain: string, seq: number) =>
    chain === 'second' && seq === 3 ? null : hashOf(seq)
  const accepted = (size: number | null) =>
    logs({
      hashAt,
      accepted: async (chain, given) => {
        asked.push([chain, given])
        return size === null ? null : { chain, size, head: hashOf(size - 1), key: '' }
      },
    })
  expect(await findMisfit(recorded, accepted(2))).toBeNull()
  expect(asked).toEqual([['second', recorded]])
  expect(await findMisfit(recorded, accepted(null))).toMatchObject({ kind: 'truncated', seq: 3 })
  expect(await findMisfit(recorded, accepted(4))).toMatchObject({ kind: 'truncated', seq: 3 })
})
