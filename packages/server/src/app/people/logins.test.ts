import { createKit, type Kit } from '@gatehouse/testkit'
import { expect, test } from 'vitest'

const password = 'correct horse battery'
const hourMs = 3_600_000
const byToken = { current_hash: null }

const openKit = async (): Promise<Kit> => {
  const kit = await createKit()
  for (const name of ['ana', 'ben'])
    await kit.app.setPassword(kit.operator(), { name, password, present: null })
  return kit
}

const logIn = async (kit: Kit, name: string, address: string): Promise<string> =>
  (await kit.app.login(kit.operator(), { name, password, address })).id

const list = (kit: Kit, asked: { current_hash: string | null } = byToken) =>
  kit.app.listLogins(kit.operator(), asked)

test('logins are listed newest first, with their last use and the one that asks', async () => {
  await using kit = await openKit()
  const anas = await logIn(kit, 'ana', '192.0.2.1')
  const since = new Date(kit.clock.wall()).toISOString()
  kit.clock.move(hourMs)
  await logIn(kit, 'ben', '192.0.2.2')
  kit.clock.move(hourMs)
  await kit.app.authenticateWebSession(anas, '192.0.2.9')
  const used = new Date(kit.clock.wall()).toISOString()
  kit.clock.move(60_000)
  // What stays open asks again and again, and is no use by a person.
  const login = await kit.app.authenticateWebSession(anas)
  const logins = await list(kit, { current_hash: login?.id_hash ?? null })
  expect(logins.map(({ name, current }) => [name, current])).toEqual([
    ['ben', false],
    ['ana', true],
  ])
  expect(logins[1]).toEqual({
    id: expect.stringMatching(/^login-[0-9a-f]{16}$/),
    name: 'ana',
    role: 'operator',
    created_at: since,
    last_used_at: used,
    expires_at: new Date(Date.parse(since) + 12 * hourMs).toISOString(),
    address: '192.0.2.9',
    current: true,
  })
  expect(logins[0]).toMatchObject({ address: '192.0.2.2' })
})

test('a list of logins says nothing of a cookie or of the key that the store has', async () => {
  await using kit = await openKit()
  const cookie = await logIn(kit, 'ana', '192.0.2.1')
  const login = await kit.app.authenticateWebSession(cookie)
  const text = JSON.stringify(await list(kit))
  const key = login?.id_hash ?? ''
  expect(key).toHaveLength(64)
  for (const secret of [cookie, key]) expect(text).not.toContain(secret.slice(0, 16))
})

test('a login that has expired is not listed and cannot be ended', async () => {
  await using kit = await openKit()
  await logIn(kit, 'ana', '192.0.2.1')
  const [login] = await list(kit)
  kit.clock.move(12 * hourMs - 1)
  expect(await list(kit)).toHaveLength(1)
  kit.clock.move(1)
  expect(await list(kit)).toEqual([])
  const end = kit.app.endLogin(kit.operator(), { id: login?.id ?? '', ...byToken })
  await expect(end).rejects.toMatchObject({ type: 'LoginNotFound' })
})

test('the login that is ended opens nothing more, others go on, and the log says who ended it', async () => {
  await using kit = await openKit()
  const anas = await logIn(kit, 'ana', '192.0.2.1')
  const bens = await logIn(kit, 'ben', '192.0.2.2')
  const id = (await list(kit)).find(({ name }) => name === 'ben')?.id ?? ''
  const end = () => kit.app.endLogin(kit.operator('ana'), { id, ...byToken })
  expect(await end()).toMatchObject({ id, name: 'ben', current: false })
  expect(await kit.app.authenticateWebSession(bens)).toBeNull()
  expect(await kit.app.authenticateWebSession(anas)).not.toBeNull()
  expect((await list(kit)).map(({ name }) => name)).toEqual(['ana'])
  await expect(end()).rejects.toMatchObject({ type: 'LoginNotFound' })
  const entries = await kit.audit({ capability: 'operator.login_ended' })
  expect(entries).toMatchObject([{ arguments: { id, name: 'ben' }, result: 'success' }])
  expect(JSON.stringify(entries)).toContain('ana')
})

test('a login whose operator is gone is not listed', async () => {
  await using kit = await openKit()
  const now = kit.clock.now()
  const stray = { id_hash: 'f'.repeat(64), created_ms: now, expires_ms: now + hourMs }
  await kit.storage.webSessions.insert({ ...stray, operator: 'eva' })
  expect(await list(kit)).toEqual([])
})
