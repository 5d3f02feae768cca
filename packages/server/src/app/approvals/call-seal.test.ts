import { mkdirSync } from 'node:fs'
import { createKit, type Kit } from '@gatehouse/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'

const policy = `version: 1
rules:
  - { match: filesystem.append, tier: approval_required }
`
const call = { name: 'filesystem.append', arguments: { path: 'log.txt', content: 'a' } }

let kit: Kit
let id: string
beforeAll(async () => {
  kit = await createKit({ policy })
  await kit.agent('alpha')
  await kit.agent('beta')
  mkdirSync(kit.workspace('alpha'), { recursive: true })
  id = await kit.pending('alpha', call.name, call.arguments)
})
afterAll(() => kit[Symbol.asyncDispose]())

const seal = (of = call) => kit.app.sealCall(kit.op('alpha'), { approval_id: id, call: of })
const open = (text: string, of: object = call, agent = 'alpha') =>
  kit.app.openCallSeal(kit.op(agent), { seal: text, call: of as typeof call })
const refused = (why: string) => ({
  type: 'InvalidParams',
  facts: { detail: `requestState ${why}; repeat the call without it`, member: 'requestState' },
})

test('a seal opens for its agent and its call, and names the request', async () => {
  const text = await seal()
  expect(text.split('.')).toEqual([
    id,
    String(Math.floor(kit.clock.now() + 3_600_000)),
    expect.stringMatching(/^[0-9a-f]{64}$/),
  ])
  expect(await open(text)).toBe(id)
})

test('a seal is made with a secret of the request', async () => {
  const { bound_json } = (await kit.storage.approvals.find(id)) ?? expect.fail('nothing stored')
  const { nonce } = JSON.parse(bound_json) as { nonce: string }
  expect(nonce).toMatch(/^[0-9a-f]{64}$/)
  const [, expires, mac] = (await seal()).split('.')
  const { digest } = kit.parts
  const sealed = digest.canonical({ id, agent: 'alpha', expires, call })
  expect(mac).toBe(digest.hmac(`gatehouse-call-seal-v1:${nonce}`, sealed))
})

test.each<[string, (text: string) => string]>([
  ['names another request', (text) => text.replace(id, 'appr-nothing')],
  ['ends later', (text) => text.replace(/\.\d+\./, '.99999999999999.')],
  ['has no end', (text) => text.replace(/\.\d+\./, '..')],
  ['was changed', (text) => text.replace(/.$/, (end) => (end === '0' ? '1' : '0'))],
  ['has no sign of its origin', (text) => text.replace(/[^.]+$/, '')],
  ['is longer', (text) => `${text}0`],
  ['has more parts', (text) => `${text}.0`],
  ['is an id', () => id],
  ['is empty', () => ''],
])('a seal that %s is not of this call', async (_what, forge) => {
  const text = await seal()
  const forged = forge(text)
  expect(forged).not.toBe(text)
  await expect(open(forged)).rejects.toMatchObject(refused('is not of this call'))
})

test('a seal opens nothing for another agent or another call', async () => {
  const text = await seal()
  const not = refused('is not of this call')
  await expect(open(text, call, 'beta')).rejects.toMatchObject(not)
  await expect(open(text, { ...call, name: 'filesystem.write' })).rejects.toMatchObject(not)
  await expect(open(text, { ...call, arguments: {} })).rejects.toMatchObject(not)
})

test('a seal of one request opens no other request of the same call', async () => {
  const text = await seal()
  const stored = await kit.storage.approvals.find(id)
  if (!stored) throw new Error('nothing stored')
  await kit.storage.approvals.insert({ ...stored, id: 'appr-twin', call_key: 'another' })
  await expect(open(text.replace(id, 'appr-twin'))).rejects.toMatchObject(
    refused('is not of this call'),
  )
})

test('a stored request that cannot be read is a fault of ours, not of the seal', async () => {
  const text = await seal()
  const stored = await kit.storage.approvals.find(id)
  if (!stored) throw new Error('nothing stored')
  const broken = { ...stored, id: 'appr-broken', call_key: 'broken', bound_json: '{' }
  await kit.storage.approvals.insert(broken)
  await expect(open(text.replace(id, broken.id))).rejects.toThrow('approvals.bound_json')
})

test('a seal ends after an hour, on the millisecond', async () => {
  const text = await seal()
  kit.clock.move(3_599_999)
  expect(await open(text)).toBe(id)
  kit.clock.move(1)
  await expect(open(text)).rejects.toMatchObject(refused('has expired'))
})
