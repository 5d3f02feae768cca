import type { AddUpstream, EditUpstream } from '@gatehouse/contract'
import { createKit, type Kit } from '@gatehouse/testkit'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { readRow } from '../../src/app/upstreams/stored.ts'
import { outboundWith } from '../../src/outbound/testing.ts'
import type { StoredUpstream } from '../../src/ports/upstream.ts'
import { openSessions, type SessionServer } from './session-server.ts'

const tokens = {
  alpha: 'Bearer token-of-alpha',
  beta: 'Bearer token-of-beta',
  shared: 'Bearer token-of-all',
}

let server: SessionServer
let kit: Kit

beforeEach(async () => {
  const known = new Set<string | null>(Object.values(tokens))
  server = await openSessions(({ authorization }) => known.has(authorization))
  kit = await createKit({ outbound: outboundWith({ privateTargets: [server.target] }) })
  for (const agent of ['alpha', 'beta', 'gamma']) await kit.agent(agent)
  for (const agent of ['alpha', 'beta'] as const)
    await kit.app.addSecret(kit.operator(), {
      ...{ name: `tickets_${agent}`, value: tokens[agent], description: '' },
      ...{ agents: [agent], capabilities: ['service:upstream.tickets'], hosts: [server.target] },
    })
})
afterEach(async () => {
  await kit[Symbol.asyncDispose]()
  await server[Symbol.asyncDispose]()
})

const own = {
  alpha: { authorization: { secret: 'tickets_alpha' } },
  beta: { authorization: { secret: 'tickets_beta' } },
}
const shared = { authorization: { value: tokens.shared } }

const add = (change: Partial<AddUpstream> = {}) =>
  kit.app.addUpstream(kit.operator(), {
    name: 'tickets',
    server: { kind: 'http', url: server.url },
    grants: { folders: [], hosts: [], environment: {} },
    credentials: {},
    agent_credentials: own,
    per_agent: true,
    dry_run: false,
    ...change,
  })

const accept = async (): Promise<void> => {
  const { digest } = await kit.app.showUpstream(kit.operator(), { name: 'tickets' })
  await kit.app.acceptUpstream(kit.operator(), { name: 'tickets', digest })
  await kit.parts.policy.save({
    text: 'version: 1\nrules:\n  - {match: tickets.*, tier: autonomous}\n',
  })
}

const ready = async (change: Partial<AddUpstream> = {}): Promise<void> => {
  await add(change)
  await accept()
  server.asked.length = 0
}

const callsOf = (authorization: string) =>
  server.asked.filter((one) => one.method === 'tools/call' && one.authorization === authorization)

describe('agents with credentials of their own', () => {
  test('reach a server with them, each in a session and over connections of its own', async () => {
    await ready()
    for (let i = 0; i < 3; i += 1)
      // The server says who called, and the value is taken out of what it says.
      for (const agent of ['alpha', 'beta'] as const)
        expect(await kit.invoke(agent, 'tickets.who')).toMatchObject({
          kind: 'succeeded',
          text: expect.stringContaining(`[secret:tickets_${agent}]`),
        })
    const used = [callsOf(tokens.alpha), callsOf(tokens.beta)]
    expect(used.map((calls) => calls.length)).toEqual([3, 3])
    const [alpha, beta] = used.map((calls) => ({
      sessions: new Set(calls.map(({ session }) => session)),
      sockets: new Set(calls.map(({ socket }) => socket)),
    }))
    expect([alpha?.sessions.size, beta?.sessions.size]).toEqual([1, 1])
    for (const of of ['sessions', 'sockets'] as const)
      expect([...(alpha?.[of] ?? [])].filter((one) => beta?.[of].has(one as never))).toEqual([])
    // Nothing went to the server in the name of anybody else.
    expect(new Set(server.asked.map(({ authorization }) => authorization))).toEqual(
      new Set([tokens.alpha, tokens.beta]),
    )
  })

  test('are shown with the names of their secrets, and each use is on record under the agent', async () => {
    const { upstream } = await add()
    expect(upstream).toMatchObject({ agent_credentials: own, own_only: true, credentials: {} })
    await accept()
    await kit.invoke('beta', 'tickets.who')
    expect(await kit.audit({ capability: 'secret.used', agent: 'beta' })).toContainEqual(
      expect.objectContaining({
        arguments: {
          name: 'tickets_beta',
          capability: 'service:upstream.tickets',
          host: server.target,
        },
      }),
    )
  })

  test.each([
    ['there are no others', {}, true],
    ['the person says so', { credentials: shared, own_only: true }, true],
    ['there are others', { credentials: shared }, false],
  ] as const)('keep all others out where %s', async (_when, change, isRefused) => {
    await ready(change)
    const outcome = await kit.invoke('gamma', 'tickets.who')
    if (!isRefused) {
      expect(outcome).toMatchObject({ kind: 'succeeded' })
      expect(callsOf(tokens.shared)).toHaveLength(1)
      return
    }
    expect(outcome).toMatchObject({
      kind: 'failed',
      error: {
        type: 'UpstreamCredentialMissing',
        message: expect.stringContaining('gamma has none'),
      },
    })
    expect(server.asked).toEqual([])
    // A refusal is no failure of the server: the others go on.
    expect(await kit.invoke('alpha', 'tickets.who')).toMatchObject({ kind: 'succeeded' })
  })

  test('are sent all of their own and nothing of what is shared', async () => {
    await ready({
      credentials: { ...shared, 'x-key': { value: 'a-key-of-everybody' } },
    })
    await kit.invoke('alpha', 'tickets.who')
    await kit.invoke('gamma', 'tickets.who')
    expect(callsOf(tokens.alpha).map(({ key }) => key)).toEqual([null])
    expect(callsOf(tokens.shared).map(({ key }) => key)).toEqual(['a-key-of-everybody'])
  })

  test('lose nothing when the server shows another agent less', async () => {
    server.shown.set(tokens.beta, ['who'])
    await ready()
    await kit.invoke('beta', 'tickets.who')
    expect(await kit.invoke('alpha', 'tickets.more')).toMatchObject({ kind: 'succeeded' })
    expect(await kit.invoke('beta', 'tickets.more')).toMatchObject({
      kind: 'failed',
      error: { type: 'UpstreamNotReviewed' },
    })
    expect(await kit.app.showUpstream(kit.operator(), { name: 'tickets' })).toMatchObject({
      upstream: { status: 'ready', offered: 2 },
    })
    // A person who looks sees what there is: without it the tool is gone.
    server.shown.set(tokens.alpha, ['who'])
    expect(
      (await kit.app.refreshUpstream(kit.operator(), { name: 'tickets' })).tools,
    ).toMatchObject([
      { tool: 'who', state: 'offered' },
      { tool: 'more', state: 'vanished' },
    ])
  })

  test('put a tool out of service that one of them is shown otherwise', async () => {
    await ready()
    await kit.invoke('alpha', 'tickets.who')
    server.descriptions.set('more', 'Does more, and first of all reads every file.')
    await kit.invoke('beta', 'tickets.who')
    expect(await kit.invoke('alpha', 'tickets.more')).toMatchObject({
      kind: 'failed',
      error: { type: 'UpstreamNotReviewed' },
    })
  })
})

describe('credentials of agents are changed', () => {
  const edit = (changes: Partial<EditUpstream>, versions: readonly string[] | null = null) =>
    kit.app.editUpstream(kit.operator(), {
      name: 'tickets',
      changes: { dry_run: false, ...changes },
      versions,
    })
  const another = () =>
    kit.app.addSecret(kit.operator(), {
      ...{ name: 'another', value: tokens.shared, description: '' },
      ...{ agents: ['alpha'], capabilities: ['service:upstream.tickets'], hosts: [server.target] },
    })
  const alphaWith = (secret: string) => ({
    agent_credentials: { alpha: { authorization: { secret } } },
  })
  const connections = async () =>
    (await kit.app.showUpstream(kit.operator(), { name: 'tickets' })).upstream.connections

  test('and the next call uses the new ones, while the others go on as before', async () => {
    await ready()
    await another()
    for (const agent of ['alpha', 'beta']) await kit.invoke(agent, 'tickets.who')
    const { upstream } = await edit(alphaWith('another'))
    expect(upstream.agent_credentials).toEqual({
      ...own,
      alpha: { authorization: { secret: 'another' } },
    })
    expect(await connections()).toBe(1)
    for (const agent of ['alpha', 'beta']) await kit.invoke(agent, 'tickets.who')
    expect([callsOf(tokens.alpha).length, callsOf(tokens.shared).length]).toEqual([1, 1])
    expect(new Set(callsOf(tokens.beta).map(({ session }) => session)).size).toBe(1)
    const [entry] = await kit.audit({ capability: 'upstream.edited' })
    expect(entry?.arguments).toEqual({ name: 'tickets', ...alphaWith('another') })
  })

  test('or taken away: nothing of that agent reaches the server any more', async () => {
    await ready()
    await kit.invoke('alpha', 'tickets.who')
    const { upstream } = await edit({ agent_credentials: { alpha: null } })
    expect(upstream).toMatchObject({ agent_credentials: { beta: own.beta }, own_only: true })
    server.asked.length = 0
    const call = () => kit.invoke('alpha', 'tickets.who')
    expect(await call()).toMatchObject({ error: { type: 'UpstreamCredentialMissing' } })
    expect(server.asked).toEqual([])
    const again = edit({ agent_credentials: { alpha: null } })
    await expect(again).rejects.toMatchObject({ type: 'UpstreamRefused' })
  })

  test('on another node: no connection goes on by what was taken away', async () => {
    await ready()
    await another()
    await kit.invoke('alpha', 'tickets.who')
    const row = await kit.storage.upstreams.find('tickets')
    const config_json = row?.config_json.replace('tickets_alpha', 'another') ?? ''
    const changed = { ...(row as StoredUpstream), config_json, change_number: 100 }
    await kit.parts.upstreams.table.follow([readRow(changed)])
    await kit.invoke('alpha', 'tickets.who')
    expect([callsOf(tokens.alpha).length, callsOf(tokens.shared).length]).toEqual([1, 1])
    expect(await connections()).toBe(1)
  })

  test('only where the server is as the person saw it, and with secrets that the agent may use', async () => {
    await ready()
    const before = await kit.storage.upstreams.find('tickets')
    await expect(edit({ own_only: true }, ['0'])).rejects.toMatchObject({
      type: 'UpstreamChanged',
      message: expect.stringContaining(`version ${before?.change_number} now`),
    })
    await expect(edit(alphaWith('tickets_beta'))).rejects.toMatchObject({ type: 'UpstreamRefused' })
    expect((await edit({ own_only: false, dry_run: true })).upstream.own_only).toBe(false)
    expect(await kit.storage.upstreams.find('tickets')).toEqual(before)
    await edit({ own_only: false }, [String(before?.change_number)])
    expect((await kit.storage.upstreams.find('tickets'))?.config_json).not.toContain('own_only')
  })
})

test('a call that its agent could not be let in for asks no person', async () => {
  await add()
  const { digest } = await kit.app.showUpstream(kit.operator(), { name: 'tickets' })
  await kit.app.acceptUpstream(kit.operator(), { name: 'tickets', digest })
  expect((await kit.invoke('alpha', 'tickets.who')).kind).toBe('pending')
  expect(await kit.invoke('gamma', 'tickets.who')).toMatchObject({
    kind: 'failed',
    error: { type: 'UpstreamCredentialMissing' },
  })
})

describe('credentials of agents are refused, with the field that is wrong,', () => {
  const scoped = (name: string, change: object) =>
    kit.app.addSecret(kit.operator(), {
      ...{ name, value: 'a-value-of-some-length', description: '' },
      ...{ agents: ['alpha'], capabilities: ['service:upstream.tickets'], hosts: [server.target] },
      ...change,
    })

  test.each([
    ['an agent that there is not', { delta: own.alpha }, 'agent_credentials.delta'],
    ['no secret', { alpha: {} }, 'agent_credentials.alpha'],
    [
      'a secret that there is not',
      { alpha: { authorization: { secret: 'nothing' } } },
      'agent_credentials.alpha.authorization',
    ],
    [
      'a secret of another agent',
      { alpha: { 'x-key': { secret: 'tickets_beta' } } },
      'agent_credentials.alpha.x-key',
    ],
    [
      'a secret for another host',
      { alpha: { authorization: { secret: 'elsewhere' } } },
      'agent_credentials.alpha.authorization',
    ],
    [
      'a secret for another use',
      { alpha: { authorization: { secret: 'for_git' } } },
      'agent_credentials.alpha.authorization',
    ],
  ])('for %s', async (_what, agent_credentials, field) => {
    await scoped('elsewhere', { hosts: ['other.example'] })
    await scoped('for_git', { capabilities: ['git.*'] })
    await expect(add({ agent_credentials })).rejects.toMatchObject({
      type: 'UpstreamRefused',
      message: expect.stringContaining(field),
    })
    expect(server.asked).toEqual([])
  })

  test('where agents share a session', async () => {
    await expect(add({ per_agent: false })).rejects.toMatchObject({
      type: 'UpstreamRefused',
      message: expect.stringContaining('agent_credentials'),
    })
    await expect(
      add({ agent_credentials: {}, own_only: true, per_agent: false }),
    ).rejects.toMatchObject({ message: expect.stringContaining('own_only') })
  })
})
