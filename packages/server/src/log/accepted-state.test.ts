import { openQuickStore } from '@gatehouse/testkit/quick-store'
import { makeTemporaryFolder } from '@gatehouse/testkit/temporary-folder'
import { expect, onTestFinished, test } from 'vitest'
import { genesis } from '../domain/audit/chain.ts'
import type { ReadableChains } from '../ports/audit-rows.ts'
import type { Storage } from '../ports/storage.ts'
import { type AcceptedLog, AcceptedLogs } from './accepted-logs.ts'
import { loadKeys } from './keys.ts'
import { keyPrint } from './recorded-root.ts'
import { digestLog } from './verify-chain.ts'

// What is kept of a log that a person accepted, and for whom it counts.

const openStore = async (): Promise<Storage> => {
  const storage = await openQuickStore()
  onTestFinished(() => storage[Symbol.asyncDispose]())
  return storage
}

type Others = Pick<ReadableChains, 'ends' | 'keys' | 'read'>

const nobody: Others = { ends: async () => [], keys: async () => [], read: async () => [] }

const openLogs = (
  { id, meta }: Pick<Storage, 'id' | 'meta'>,
  { key = 'shared', others = nobody }: { key?: string | null; others?: Others } = {},
) =>
  new AcceptedLogs({
    ...{ storage: { id, meta }, others, key: () => key, signal: new AbortController().signal },
  })

const accepted: AcceptedLog = {
  ...{ chain: 'left', size: 4, head: genesis, peaks: [], digest: 'a digest', key: 'a key' },
  ...{ accepted_at: '2026-01-01T00:00:00.000Z', roots_through: '2026-01-01T00:01:00.000Z' },
  entry: 'aud-7',
}
const place = 'audit.accepted.left'

test('a state that was accepted is found again by all who share the key and the store', async () => {
  const { id, meta } = await openStore()
  const logs = openLogs({ id, meta })
  expect(await logs.find('left')).toBeNull()
  await logs.keep(accepted)
  expect(await openLogs({ id, meta }).find('left')).toEqual(accepted)
  expect(await logs.find('lost')).toBeNull()
  expect(await openLogs({ id, meta }, { key: 'another' }).find('left')).toBeNull()
  expect(await openLogs({ id, meta }, { key: null }).find('left')).toBeNull()
  expect(await openLogs({ id: 'another', meta }).find('left')).toBeNull()
  expect(() => logs.assertKey()).not.toThrow()
})

test('a state that somebody else wrote into the store is none, whether there is a key or not', async () => {
  const { id, meta } = await openStore()
  const logs = openLogs({ id, meta })
  await logs.keep(accepted)
  const kept = (await meta.get(place)) ?? ''
  const [mac = '', record = ''] = kept.split('\n')
  expect(mac).toMatch(/^[0-9a-f]{64}$/)
  expect(JSON.parse(record)).toEqual(accepted)
  for (const forged of [
    `${mac}\n${record.replace('"size":4', '"size":5')}`,
    `${mac}${record}`,
    `\n${record}`,
    `${mac.slice(1)}\n${record}`,
    `${'0'.repeat(64)}\n${record}`,
    `${mac}\n\n${record}`,
    '',
  ]) {
    await meta.set(place, forged)
    for (const key of ['shared', null])
      expect(await openLogs({ id, meta }, { key }).find('left')).toBeNull()
  }
  // One that is genuine says of which log it is.
  await meta.set('audit.accepted.lost', kept)
  expect(await logs.find('lost')).toBeNull()
  await meta.set(place, kept)
  expect(await logs.find('left')).toEqual(accepted)
})

test('without the key nothing can be accepted, and it is said where the key is', async () => {
  const { id, meta } = await openStore()
  const logs = openLogs({ id, meta }, { key: null })
  const refusal = {
    type: 'Conflict',
    message: expect.stringContaining('this node has no policy.key') as string,
    recovery: [
      { action: 'copy policy.key', description: expect.stringContaining('mode 600') as string },
      {
        action: 'gatehouse serve',
        description: expect.stringContaining('makes the key') as string,
      },
    ],
  }
  expect(() => logs.assertKey()).toThrow(expect.objectContaining(refusal))
  await expect(logs.keep(accepted)).rejects.toMatchObject(refusal)
  expect(await meta.get(place)).toBeNull()
})

test('the state of a log is what others read of it, with the fingerprint of its key', async () => {
  const storage = await openStore()
  const rows = Array.from({ length: 600 }, (_, seq) => ({
    ...{ seq, hash: (seq + 1).toString(16).padStart(64, '0'), body: `entry ${seq}` },
  }))
  const { pem, raw } = loadKeys(makeTemporaryFolder())
  const others = (next: number, public_key: string): Others => ({
    ends: async () => [
      { chain: 'lost', next: 7 },
      { chain: 'left', next },
    ],
    keys: async () => [
      { chain: 'lost', public_key: 'another' },
      { chain: 'left', public_key },
    ],
    read: async (chain, from, limit) =>
      chain === 'left' ? rows.filter(({ seq }) => seq >= from).slice(0, limit) : [],
  })
  const stateOf = (next: number, public_key = pem, chain = 'left') =>
    openLogs(storage, { others: others(next, public_key) }).stateOf(chain)
  const digest = async (size: number) => {
    const entries = () => [rows.map((row) => ({ ...row, seal: '' }))]
    return (await digestLog({ entries }, 'left', size)).all
  }
  for (const size of [600, 550, 1])
    expect(await stateOf(size)).toEqual({
      ...{ chain: 'left', size, head: rows[size - 1]?.hash, peaks: [] },
      ...{ digest: await digest(size), key: keyPrint(raw) },
    })
  const empty = { size: 0, head: genesis, peaks: [], digest: await digest(0) }
  for (const next of [0, -3]) expect(await stateOf(next)).toMatchObject(empty)
  expect(await stateOf(9, pem, 'gone')).toEqual({ ...empty, chain: 'gone', key: '' })
  expect(await stateOf(900)).toMatchObject({ size: 900, head: genesis, digest: await digest(600) })
  // A key that is none is not compared.
  expect((await stateOf(600, 'none')).key).toBe('')
})

test('states that verifications relied on are told until the log is sound without', async () => {
  const logs = openLogs(await openStore())
  const other = { ...accepted, chain: 'lost' }
  for (const one of [accepted, other]) logs.use(one)
  expect([...logs.used]).toEqual([
    ['left', accepted],
    ['lost', other],
  ])
  logs.forget('left')
  expect([...logs.used.keys()]).toEqual(['lost'])
})
