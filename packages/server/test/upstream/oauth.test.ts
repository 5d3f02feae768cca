import { describe, expect, test } from 'vitest'
import { OauthKit, redirectUrl } from './oauth-kit.ts'

const succeeded = { kind: 'succeeded' }

test('a server that wants a login is kept without tools, and shows them once a person has logged in', async () => {
  await using kit = await OauthKit.open()
  expect(await kit.add({ dry_run: true })).toMatchObject({ upstream: { status: 'needs_login' } })
  expect(await kit.add()).toMatchObject({ upstream: { status: 'needs_login' }, tools: [] })
  expect((await kit.show()).reason).toContain('gatehouse upstream login tickets')
  const begun = await kit.begin()
  const address = new URL(begun.address)
  expect(Object.fromEntries(address.searchParams)).toMatchObject({
    response_type: 'code',
    code_challenge_method: 'S256',
    resource: kit.servers.mcp,
    redirect_uri: redirectUrl,
    state: begun.state,
  })
  const review = await kit.finish(await kit.servers.browse(begun.address))
  expect(review.tools.map(({ tool, state }) => [tool, state])).toEqual([
    ['list', 'new'],
    ['leak', 'new'],
  ])
  expect(review.upstream.login).toMatchObject({
    issuer: kit.servers.issuer,
    scopes: expect.arrayContaining(['tools']),
  })
})

test('a call carries the token of the login, and nothing that can be read holds it', async () => {
  await using kit = await OauthKit.open()
  await kit.ready()
  expect(await kit.call()).toMatchObject({ ...succeeded, text: 'no tickets' })
  const leaked = await kit.call('leak')
  expect(leaked).toMatchObject({ ...succeeded, text: expect.stringContaining('[secret:service:') })
  const { secrets, asked } = kit.servers
  const codes = asked.flatMap((body) => [body.get('code'), body.get('code_verifier')])
  expect(secrets.size).toBe(2)
  const read = await kit.readable(leaked, await kit.show())
  for (const secret of [...secrets, ...codes]) {
    expect(secret?.length).toBeGreaterThan(20)
    expect(read).not.toContain(secret)
  }
})

test('a token is renewed before it expires, once for all who call at that time', async () => {
  await using kit = await OauthKit.open()
  await kit.ready()
  await kit.call()
  expect(kit.servers.asks('refresh_token')).toBe(0)
  kit.kit.clock.ms += 550_000
  const outcomes = await Promise.all(Array.from({ length: 8 }, () => kit.call()))
  expect(outcomes.map(({ kind }) => kind)).toEqual(Array(8).fill('succeeded'))
  expect(kit.servers.asks('refresh_token')).toBe(1)
  // The refresh token was exchanged for another one, which is used next.
  kit.kit.clock.ms += 550_000
  expect(await kit.call()).toMatchObject(succeeded)
  expect(kit.servers.asks('refresh_token')).toBe(2)
  const used = kit.servers.asked.map((body) => body.get('refresh_token')).filter(Boolean)
  expect(new Set(used).size).toBe(2)
  const read = await kit.readable()
  for (const secret of kit.servers.secrets) expect(read).not.toContain(secret)
})

test('a server that keeps its refresh token is renewed with the same one', async () => {
  await using kit = await OauthKit.open({ rotates: false })
  await kit.ready()
  for (let times = 0; times < 2; times += 1) {
    kit.kit.clock.ms += 550_000
    expect(await kit.call()).toMatchObject(succeeded)
  }
  expect(kit.servers.asks('refresh_token')).toBe(2)
})

test('a token that was taken back early is renewed by the refusal', async () => {
  await using kit = await OauthKit.open()
  await kit.ready()
  await kit.call()
  const [access] = kit.servers.secrets
  await kit.servers.revokeOne(access ?? '')
  expect(await kit.call()).toMatchObject(succeeded)
  expect(kit.servers.asks('refresh_token')).toBe(1)
})

test('a refused renewal makes the server fail with the way out of it, and a login mends it', async () => {
  await using kit = await OauthKit.open()
  await kit.ready()
  await kit.call()
  await kit.servers.revokeAll()
  kit.kit.clock.ms += 550_000
  const refused = await kit.call()
  expect(refused).toMatchObject({ kind: 'failed', error: { type: 'UpstreamFailed' } })
  expect(JSON.stringify(refused)).toContain('gatehouse upstream login tickets')
  await expect
    .poll(async () => await kit.show())
    .toMatchObject({ status: 'failing', reason: expect.stringContaining('invalid_grant') })
  expect((await kit.show()).reason).toContain('gatehouse upstream login tickets')
  await kit.logIn()
  expect(await kit.call()).toMatchObject(succeeded)
  expect(await kit.show()).toMatchObject({ status: 'ready' })
})

test('a logout deletes the tokens here, and takes them back at the server', async () => {
  await using kit = await OauthKit.open()
  await kit.ready()
  await kit.call()
  const [access = ''] = kit.servers.secrets
  expect(await kit.servers.isGood(access)).toBe(true)
  const { upstream } = await kit.kit.app.logoutUpstream(kit.kit.operator(), { name: 'tickets' })
  expect(upstream).toMatchObject({ status: 'needs_login', login: null })
  expect(await kit.servers.isGood(access)).toBe(false)
  expect(await kit.call()).toMatchObject({
    kind: 'failed',
    error: { type: 'UpstreamNeedsLogin' },
  })
  expect(await kit.kit.audit({ capability: 'upstream.tokens_deleted' })).toMatchObject([
    { arguments: { name: 'tickets', revoked: true } },
  ])
  expect(await kit.keptSecrets()).toEqual([])
  // The twin: logging in again brings back what was accepted.
  await kit.logIn()
  expect(await kit.call()).toMatchObject(succeeded)
})

test('a removed server leaves nothing of its login', async () => {
  await using kit = await OauthKit.open()
  await kit.ready()
  await kit.begin()
  const [access = ''] = kit.servers.secrets
  await kit.kit.app.removeUpstream(kit.kit.operator(), { name: 'tickets' })
  expect(await kit.keptSecrets()).toEqual([])
  expect(await kit.servers.isGood(access)).toBe(false)
})

test('a login survives a restart of the service', async () => {
  await using kit = await OauthKit.open()
  await kit.ready()
  await kit.restart()
  expect(await kit.call()).toMatchObject(succeeded)
  kit.kit.clock.ms += 550_000
  expect(await kit.call()).toMatchObject(succeeded)
  expect(kit.servers.asks('refresh_token')).toBe(1)
})

test('a client that is registered already is used with its secret', async () => {
  await using kit = await OauthKit.open({ metadata: { registration_endpoint: undefined } })
  await kit.add()
  await expect(kit.begin()).rejects.toMatchObject({
    type: 'UpstreamLoginRefused',
    message: expect.stringContaining('--client-id'),
  })
  const client_secret = 'a-secret-of-a-given-client'
  await kit.logIn({ client_id: 'given', client_secret })
  expect(await kit.show()).toMatchObject({ login: { client_id: 'given' } })
  kit.kit.clock.ms += 550_000
  await kit.kit.app.refreshUpstream(kit.kit.operator(), { name: 'tickets' })
  expect(kit.servers.asks('refresh_token')).toBe(1)
  expect(await kit.readable()).not.toContain(client_secret)
})

test('a login by way of the dashboard ends at its page, whose address is all that it brings back', async () => {
  const redirect_url = 'https://gate.example:7800/upstreams/callback'
  await using kit = await OauthKit.open()
  await kit.add()
  const { address } = await kit.begin({ redirect_url })
  const ended = await kit.servers.browse(address)
  expect(ended.startsWith(`${redirect_url}?`)).toBe(true)
  await expect(kit.finish(ended.replace(':7800', ':7801'))).rejects.toMatchObject({
    type: 'UpstreamLoginRefused',
  })
  expect(await kit.finish(ended)).toMatchObject({
    upstream: { login: { issuer: kit.servers.issuer } },
  })
})

test('a description of the client takes the place of a registration where both sides have one', async () => {
  const url = 'https://gate.example/client.json'
  const options = { settings: { 'upstream.client_metadata_url': url } }
  await using kit = await OauthKit.open(
    { metadata: { client_id_metadata_document_supported: true } },
    options,
  )
  await kit.add()
  expect(new URL((await kit.begin()).address).searchParams.get('client_id')).toBe(url)
  await using other = await OauthKit.open({}, options)
  await other.add()
  expect(new URL((await other.begin()).address).searchParams.get('client_id')).not.toBe(url)
})

describe('a login of one agent alone', () => {
  const tokenOf = async (kit: OauthKit, agent: string): Promise<string | undefined> => {
    const before = kit.servers.taken.length
    await kit.call('list', agent)
    const used = new Set(kit.servers.taken.slice(before))
    expect(used.size).toBeLessThanOrEqual(1)
    return [...used][0]
  }

  const open = async (change: object = {}): Promise<OauthKit> => {
    const kit = await OauthKit.open()
    for (const agent of ['beta', 'gamma']) await kit.kit.agent(agent)
    await kit.add(change)
    const { digest } = await kit.logIn({ agent: 'alpha' })
    await kit.kit.app.acceptUpstream(kit.kit.operator(), { name: 'tickets', digest })
    await kit.kit.parts.policy.save({
      text: 'version: 1\nrules:\n  - {match: tickets.*, tier: autonomous}\n',
    })
    return kit
  }

  test('is used by it alone, beside the one that the others share', async () => {
    await using kit = await open()
    expect(await kit.show()).toMatchObject({ status: 'ready', login: null })
    expect(await kit.call('list', 'beta')).toMatchObject({
      kind: 'failed',
      error: { type: 'UpstreamNeedsLogin' },
    })
    await kit.logIn({ agent: 'beta' })
    await kit.logIn()
    const used = [
      await tokenOf(kit, 'alpha'),
      await tokenOf(kit, 'beta'),
      await tokenOf(kit, 'gamma'),
    ]
    expect(new Set(used).size).toBe(3)
    expect(await kit.show()).toMatchObject({
      login: { issuer: kit.servers.issuer },
      agent_logins: { alpha: { scopes: ['tools'] }, beta: {} },
    })
    const logins = await kit.kit.audit({ capability: 'upstream.logged_in' })
    expect(logins.map(({ agent }) => agent)).toEqual(expect.arrayContaining(['alpha', 'beta', '']))
    expect(await kit.readable(await kit.show())).not.toContain(used[0])
  })

  test('is renewed for it, survives a restart, and says how it is mended', async () => {
    await using kit = await open()
    await kit.restart()
    expect(await kit.call()).toMatchObject(succeeded)
    kit.kit.clock.ms += 550_000
    expect(await kit.call()).toMatchObject(succeeded)
    expect(kit.servers.asks('refresh_token')).toBe(1)
    await kit.servers.revokeAll()
    kit.kit.clock.ms += 550_000
    expect(JSON.stringify(await kit.call())).toContain(
      'gatehouse upstream login tickets --as alpha',
    )
  })

  test('ends without the others, and its agent is then let in as the person chose', async () => {
    await using kit = await open()
    await kit.logIn()
    const own = await tokenOf(kit, 'alpha')
    const shared = await tokenOf(kit, 'gamma')
    const logout = { name: 'tickets', agent: 'alpha' }
    expect((await kit.kit.app.logoutUpstream(kit.kit.operator(), logout)).upstream).toMatchObject({
      login: { issuer: kit.servers.issuer },
      agent_logins: {},
    })
    expect(await kit.servers.isGood(own ?? '')).toBe(false)
    expect(await tokenOf(kit, 'alpha')).toBe(shared)
    expect((await kit.keptSecrets()).filter((name) => name.includes('alpha'))).toEqual([])
    // The twin: where agents use their own alone.
    await using strict = await open({ own_only: true })
    await strict.logIn()
    await strict.kit.app.logoutUpstream(strict.kit.operator(), logout)
    expect(await strict.call()).toMatchObject({
      kind: 'failed',
      error: { type: 'UpstreamCredentialMissing' },
    })
  })

  test('is gone with the server, and is for agents that there are', async () => {
    await using kit = await open()
    const own = await tokenOf(kit, 'alpha')
    await expect(kit.begin({ agent: 'delta' })).rejects.toMatchObject({ type: 'AgentNotFound' })
    await kit.kit.app.removeUpstream(kit.kit.operator(), { name: 'tickets' })
    expect(await kit.keptSecrets()).toEqual([])
    expect(await kit.servers.isGood(own ?? '')).toBe(false)
    await kit.add({ per_agent: false })
    await expect(kit.begin({ agent: 'alpha' })).rejects.toMatchObject({
      type: 'UpstreamRefused',
      message: expect.stringContaining('--shared'),
    })
  })
})
