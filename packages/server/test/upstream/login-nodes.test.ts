import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createKit, type Kit, startPostgres } from '@gatehouse/testkit'
import { inTime } from '@gatehouse/testkit/in-time'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { outboundWith } from '../../src/outbound/testing.ts'
import { LoginLease } from '../../src/upstream/oauth/login-lease.ts'
import { OauthKit } from './oauth-kit.ts'

const server = await startPostgres()
const database_url = 'url' in server ? server.url : ''
afterAll(async () => {
  if ('stop' in server) await server.stop()
})

const newFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-node-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** A second node on the database of the first, with a copy of the key of its vault. */
const openSecond = async (first: OauthKit): Promise<Kit> => {
  const begins = newFolder()
  copyFileSync(join(first.kit.folder, 'vault.key'), join(begins, 'vault.key'))
  return await createKit({
    begins,
    nowMs: first.kit.clock.ms,
    outbound: outboundWith({ privateTargets: first.servers.targets }),
    settings: { database_url },
    policy: 'version: 1\nrules:\n  - {match: tickets.*, tier: autonomous}\n',
  })
}

const stepMs = 200

describe.skipIf('missing' in server)('two nodes with one login', () => {
  test('renew it once for both, and a login that ends on one ends on the other', async () => {
    await using one = await OauthKit.open({}, { settings: { database_url }, begins: newFolder() })
    await one.ready()
    const token = await one.kit.agent('beta')
    await using two = await openSecond(one)
    await two.authenticate(token)
    const kits = [one.kit, two]
    const callBoth = () =>
      inTime(kits, Promise.all([one.call(), two.invoke('beta', 'tickets.list')]), stepMs)
    const succeeded = { kind: 'succeeded', text: 'no tickets' }
    expect(await callBoth()).toMatchObject([succeeded, succeeded])
    for (let round = 1; round <= 3; round += 1) {
      for (const { clock } of kits) clock.ms += 600_000
      expect(await callBoth()).toMatchObject([succeeded, succeeded])
      expect(one.servers.asks('refresh_token')).toBe(round)
    }
    for (const { clock } of kits) clock.ms += 600_000
    await one.kit.app.logoutUpstream(one.kit.operator(), { name: 'tickets' })
    expect(await inTime(kits, two.invoke('beta', 'tickets.list'), stepMs)).toMatchObject({
      kind: 'failed',
      error: { message: expect.stringContaining('gatehouse upstream login tickets') },
    })
    expect(one.servers.asks('refresh_token')).toBe(3)
  })
})

test('whoever holds the lease of a login goes on alone, until it is done or its node is given up', async () => {
  await using kit = await createKit()
  const { storage, clock } = kit
  const leaseOf = (node: string) => new LoginLease({ storage, clock, node })
  const [a, b] = [leaseOf('a'), leaseOf('b')]
  const order: string[] = []
  let end = () => {}
  const long = a.hold('tickets', () => {
    order.push('a begins')
    return new Promise<void>((resolve) => {
      end = resolve
    })
  })
  await expect.poll(() => order).toEqual(['a begins'])
  const second = a.hold('tickets', async () => order.push('a again'))
  const other = b.hold('tickets', async () => order.push('b'))
  await b.hold('notes', async () => order.push('another login'))
  expect(order).toEqual(['a begins', 'another login'])
  end()
  await long
  await inTime(kit, Promise.all([second, other]), stepMs)
  expect(order.toSorted()).toEqual(['a again', 'a begins', 'another login', 'b'])

  // A node that died holds it for two minutes.
  void a.hold('tickets', () => new Promise(() => {}))
  await expect.poll(() => storage.meta.get('upstream.login.tickets')).toContain('"a"')
  const begunMs = clock.now()
  await inTime(
    kit,
    b.hold('tickets', async () => {}),
    10_000,
  )
  expect(clock.now() - begunMs).toBeGreaterThanOrEqual(120_000)
  const failing = b.hold('tickets', () => Promise.reject(new Error('it failed')))
  await expect(failing).rejects.toThrow('it failed')
  await b.hold('tickets', async () => {})
})
