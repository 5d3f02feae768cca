import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createKit, type Kit } from '@gatehouse/testkit'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { outboundWith } from '../../src/outbound/testing.ts'
import {
  type Issuer,
  issueIntermediate,
  issueRoot,
  issueServer,
  rootPem,
} from './certificate-chain.ts'
import { openSessions, type SessionServer } from './session-server.ts'

const folder = mkdtempSync(join(tmpdir(), 'gatehouse-certificates-'))
const caFile = join(folder, 'roots.pem')
const authorization = 'Bearer a-token-of-some-length'

let usual: Issuer
let other: Issuer
let server: SessionServer
let kit: Kit

/** Another key each time, under an intermediate authority of its own: what a renewal changes. */
const issue = async (root: Issuer, subject = 'CN=127.0.0.1') =>
  issueServer(await issueIntermediate(root, `CN=R${Math.random()}`), subject)

beforeAll(async () => {
  usual = await issueRoot('CN=Usual Root, O=Usual Trust')
  other = await issueRoot('CN=Other Root')
  writeFileSync(caFile, rootPem(usual) + rootPem(other))
})
afterAll(() => rmSync(folder, { recursive: true }))

beforeEach(async () => {
  server = await openSessions((asked) => asked.authorization === authorization, await issue(usual))
  kit = await createKit({ outbound: outboundWith({ privateTargets: [server.target], caFile }) })
  await kit.agent('alpha')
  await kit.app.addUpstream(kit.operator(), {
    name: 'tickets',
    server: { kind: 'http', url: server.url },
    grants: { folders: [], hosts: [], environment: {} },
    credentials: { authorization: { value: authorization } },
    per_agent: true,
    dry_run: false,
  })
  await accept()
  await kit.parts.policy.save({
    text: 'version: 1\nrules:\n  - {match: tickets.*, tier: autonomous}\n',
  })
})
afterEach(async () => {
  await kit[Symbol.asyncDispose]()
  await server[Symbol.asyncDispose]()
})

const show = () => kit.app.showUpstream(kit.operator(), { name: 'tickets' })

const accept = async () => {
  const { digest } = await show()
  return kit.app.acceptUpstream(kit.operator(), { name: 'tickets', digest })
}

const call = () => kit.invoke('alpha', 'tickets.who')

const succeeded = { kind: 'succeeded' }
const changed = { kind: 'failed', error: { type: 'UpstreamCertificateChanged' } }

/** Another certificate, for connections that are made from now on. */
const become = async (root: Issuer, subject?: string): Promise<void> => {
  server.setCertificate(await issue(root, subject))
  await kit.app.restartUpstream(kit.operator(), { name: 'tickets' })
  server.asked.length = 0
}

const listed = async () =>
  (await kit.app.listCapabilities(kit.op('alpha'), {})).some(
    ({ capability }) => capability.name === 'tickets.who',
  )

const isUsual = { organisation: null, authority: 'Usual Root, Usual Trust' }

describe('the certificate of a server', () => {
  test('is pinned with its tools, and shown', async () => {
    expect((await show()).upstream).toMatchObject({
      certificate: isUsual,
      accepted_certificate: { ...isUsual, authority_key: expect.stringMatching(/^[0-9a-f]{64}$/) },
    })
  })

  test('is renewed, under another intermediate authority, and nothing waits for a person', async () => {
    const changes = () => kit.audit({ capability: 'upstream.changed' })
    const before = await changes()
    await become(usual)
    expect(await call()).toMatchObject(succeeded)
    expect((await show()).upstream).toMatchObject({ status: 'ready' })
    expect(await changes()).toEqual(before)
  })

  test.each([
    ['another authority', () => become(other), { organisation: null, authority: 'Other Root' }],
    [
      'another owner',
      () => become(usual, 'CN=127.0.0.1, O=Somebody Else'),
      { ...isUsual, organisation: 'Somebody Else' },
    ],
  ])(
    'that names %s takes all tools out of service before anything is sent',
    async (_what, act, found) => {
      await act()
      expect(await call()).toMatchObject(changed)
      expect(server.asked).toEqual([])
      expect(await listed()).toBe(false)
      const { upstream, tools } = await show()
      expect(upstream).toMatchObject({
        ...{ status: 'needs_review', offered: 0, waiting: 2 },
        ...{ certificate: found, accepted_certificate: isUsual },
      })
      expect(tools.map(({ state, problem }) => [state, problem])).toEqual(
        Array(2).fill(['changed', 'the server shows another certificate than the accepted one']),
      )
      expect(await kit.audit({ capability: 'upstream.changed' })).toContainEqual(
        expect.objectContaining({
          arguments: expect.objectContaining({ certificate: expect.objectContaining(found) }),
        }),
      )
      // A person who looks is told the same, and nothing is sent for that either.
      await expect(
        kit.app.refreshUpstream(kit.operator(), { name: 'tickets' }),
      ).rejects.toMatchObject({ type: 'UpstreamCertificateChanged' })
      expect(server.asked).toEqual([])
      await accept()
      expect(await call()).toMatchObject(succeeded)
      expect((await show()).upstream).toMatchObject({
        status: 'ready',
        accepted_certificate: found,
      })
    },
  )

  test('that changes while a server is used is refused at the next connection', async () => {
    expect(await call()).toMatchObject(succeeded)
    server.setCertificate(await issue(other))
    server.asked.length = 0
    expect(await call()).toMatchObject(changed)
    expect(server.asked).toEqual([])
    expect((await show()).upstream.status).toBe('needs_review')
  })

  test('that is the accepted one again brings the tools back', async () => {
    await become(other)
    await call()
    await become(usual)
    await kit.app.refreshUpstream(kit.operator(), { name: 'tickets' })
    expect(await call()).toMatchObject(succeeded)
  })

  test('is pinned at the next connection where tools were accepted before that was done', async () => {
    const row = await kit.storage.upstreams.find('tickets')
    if (!row?.seen_json) throw new Error('it was not added')
    const without = (text: string) => {
      const { certificate: _pinned, ...others } = JSON.parse(text)
      return JSON.stringify(others)
    }
    await kit.storage.upstreams.put({
      ...row,
      accepted_json: without(row.accepted_json),
      seen_json: without(row.seen_json),
    })
    expect((await show()).upstream.accepted_certificate).toBeNull()
    await kit.app.refreshUpstream(kit.operator(), { name: 'tickets' })
    expect((await show()).upstream).toMatchObject({
      status: 'ready',
      accepted_certificate: isUsual,
    })
    await become(other)
    expect(await call()).toMatchObject(changed)
  })
})

test('a server without https has no certificate, and needs none', async () => {
  await using plain = await openSessions(() => true)
  await using without = await createKit({
    outbound: outboundWith({ privateTargets: [plain.target] }),
  })
  const { upstream } = await without.app.addUpstream(without.operator(), {
    name: 'plain',
    server: { kind: 'http', url: plain.url },
    grants: { folders: [], hosts: [], environment: {} },
    credentials: {},
    per_agent: true,
    dry_run: false,
  })
  expect(upstream).toMatchObject({ certificate: null, accepted_certificate: null })
})
