import { createKit, type Kit } from '@gatehouse/testkit'
import { describe, expect, test } from 'vitest'
import type { Passwords } from '../../ports/passwords.ts'

const password = 'correct horse battery'
const here = { address: '192.0.2.1' }

const typesOf = (outcomes: readonly PromiseSettledResult<unknown>[]): Record<string, number> => {
  const counts: Record<string, number> = {}
  for (const outcome of outcomes) {
    const type =
      outcome.status === 'fulfilled' ? 'done' : String((outcome.reason as { type?: string }).type)
    counts[type] = (counts[type] ?? 0) + 1
  }
  return counts
}

const setUp = async (kit: Kit, name?: string) => {
  const { token } = await kit.app.createSetupLink(kit.operator())
  return kit.app.setUp(kit.operator('the setup'), {
    token,
    password,
    ...here,
    ...(name ? { name } : {}),
  })
}

/** Does what is in the list while a password is hashed. */
const hashingWith = () => {
  const whileHashing: (() => Promise<unknown>)[] = []
  const ports = <T extends object>(name: string, port: T): T => {
    if (name !== 'passwords') return port
    const { hash } = port as T & Passwords
    const slow: Passwords['hash'] = async (text) => {
      await whileHashing.pop()?.()
      return hash(text)
    }
    return { ...port, hash: slow }
  }
  return { whileHashing, ports }
}

describe('the setup link', () => {
  test('makes exactly one operator, however many use it at once, and none after', async () => {
    await using kit = await createKit()
    const { token } = await kit.app.createSetupLink(kit.operator())
    const use = (name: string) =>
      kit.app.setUp(kit.operator('the setup'), { token, password, name, ...here })
    const outcomes = await Promise.allSettled(
      Array.from({ length: 50 }, (_, i) => use(`operator-${i}`)),
    )
    expect(typesOf(outcomes)).toEqual({ done: 1, SetupLinkInvalid: 49 })
    expect(await kit.app.listOperators(kit.operator())).toHaveLength(1)
    await expect(use('late')).rejects.toMatchObject({ type: 'SetupLinkInvalid' })
    expect(await kit.audit({ capability: 'operator.created' })).toHaveLength(1)
    await expect(kit.app.createSetupLink(kit.operator())).rejects.toMatchObject({
      type: 'Conflict',
    })
  })

  test('holds for 30 minutes and until the next one', async () => {
    await using kit = await createKit()
    const first = await kit.app.createSetupLink(kit.operator())
    const second = await kit.app.createSetupLink(kit.operator())
    const use = (token: string) => kit.app.setUp(kit.operator(), { token, password, ...here })
    await expect(use(first.token)).rejects.toMatchObject({ type: 'SetupLinkInvalid' })
    kit.clock.move(30 * 60_000)
    await expect(use(second.token)).rejects.toMatchObject({ type: 'SetupLinkInvalid' })
    const third = await kit.app.createSetupLink(kit.operator())
    kit.clock.move(30 * 60_000 - 1)
    expect((await use(third.token)).whoami).toMatchObject({ name: 'operator', role: 'operator' })
  })

  test('that ends while the password is hashed makes no operator', async () => {
    const { whileHashing, ports } = hashingWith()
    await using kit: Kit = await createKit({ ports })
    const { token } = await kit.app.createSetupLink(kit.operator())
    whileHashing.push(async () => kit.clock.move(30 * 60_000))
    const use = kit.app.setUp(kit.operator(), { token, password, ...here })
    await expect(use).rejects.toMatchObject({ type: 'SetupLinkInvalid' })
    expect(await kit.app.listOperators(kit.operator())).toEqual([])
  })

  test('is not used up by a password that cannot be taken', async () => {
    await using kit = await createKit()
    const { token } = await kit.app.createSetupLink(kit.operator())
    const use = (text: string) => kit.app.setUp(kit.operator(), { token, password: text, ...here })
    await expect(use('password123')).rejects.toMatchObject({ type: 'WeakPassword' })
    expect((await use(password)).whoami.via).toBe('login')
  })

  test('is never in the log, nor is a password or the id of a login', async () => {
    await using kit = await createKit()
    const { token } = await kit.app.createSetupLink(kit.operator())
    const { id } = await kit.app.setUp(kit.operator(), { token, password, ...here })
    const text = JSON.stringify(await kit.audit())
    for (const secret of [token, password, id]) expect(text).not.toContain(secret)
  })
})

describe('a login', () => {
  test('is known by its id for 12 hours or until it ends', async () => {
    await using kit = await createKit()
    const { id: first } = await setUp(kit, 'ana')
    const { id } = await kit.app.login(kit.operator(), { password, ...here })
    expect(id).not.toBe(first)
    const known = await kit.app.authenticateWebSession(id)
    expect(known?.actor).toMatchObject({ kind: 'user', label: 'ana', role: 'operator' })
    await kit.app.logout(kit.operator(), { id_hash: known?.id_hash ?? '' })
    expect(await kit.app.authenticateWebSession(id)).toBeNull()
    kit.clock.move(12 * 3_600_000 - 1)
    expect(await kit.app.authenticateWebSession(first)).not.toBeNull()
    kit.clock.move(1)
    expect(await kit.app.authenticateWebSession(first)).toBeNull()
    expect(await kit.app.authenticateWebSession('x'.repeat(43))).toBeNull()
  })

  test('needs the password of that name', async () => {
    await using kit = await createKit()
    await setUp(kit, 'ana')
    const logIn = (name: string | undefined, text: string) =>
      kit.app.login(kit.operator(), { password: text, ...here, ...(name ? { name } : {}) })
    const refusal = { type: 'AuthenticationFailed' }
    await expect(logIn('ana', 'wrong')).rejects.toMatchObject(refusal)
    await expect(logIn('ben', password)).rejects.toMatchObject(refusal)
    expect((await logIn('ana', password)).whoami.name).toBe('ana')
    expect((await logIn(undefined, password)).whoami.name).toBe('ana')
  })

  test('is refused after five failures from an address, with the right password too', async () => {
    await using kit = await createKit()
    await setUp(kit)
    const logIn = (text: string, address = here.address) =>
      kit.app.login(kit.operator(), { password: text, address })
    const outcomes = await Promise.allSettled(Array.from({ length: 50 }, () => logIn('wrong')))
    expect(typesOf(outcomes)).toEqual({ AuthenticationFailed: 5, TooManyFailures: 45 })
    await expect(logIn(password)).rejects.toMatchObject({
      type: 'TooManyFailures',
      facts: { retry_after_seconds: 60 },
    })
    expect((await logIn(password, '192.0.2.2')).whoami.via).toBe('login')
    kit.clock.move(60_000)
    expect((await logIn(password)).whoami.via).toBe('login')
    const failures = await kit.audit({ capability: 'authentication.failed' })
    expect(failures.map(({ detail }) => detail)).toContainEqual({
      address: here.address,
      count: 1,
      listener: 'dashboard',
    })
  })
})

describe('a password change', () => {
  test('ends every login of that name but the one that asks', async () => {
    await using kit = await createKit()
    const { id: mine } = await setUp(kit, 'ana')
    const { id: elsewhere } = await kit.app.login(kit.operator(), { password, ...here })
    const login = await kit.app.authenticateWebSession(mine)
    const op = { ...kit.operator(), actor: login?.actor ?? kit.operator().actor }
    const change = (present: string | undefined) =>
      kit.app.setPassword(op, {
        name: 'ana',
        password: 'another horse battery',
        present: { sessionHash: login?.id_hash ?? '', password: present, ...here },
      })
    await expect(change(undefined)).rejects.toMatchObject({ type: 'AuthenticationFailed' })
    expect(await kit.app.authenticateWebSession(elsewhere)).not.toBeNull()
    expect(await change(password)).toMatchObject({ name: 'ana', created: false })
    expect(await kit.app.authenticateWebSession(elsewhere)).toBeNull()
    expect(await kit.app.authenticateWebSession(mine)).not.toBeNull()
    const logIn = (text: string) => kit.app.login(op, { password: text, address: '192.0.2.9' })
    await expect(logIn(password)).rejects.toMatchObject({ type: 'AuthenticationFailed' })
    expect((await logIn('another horse battery')).whoami.name).toBe('ana')
  })

  describe('that is under way', () => {
    /** Ana changes her password, and while that is hashed something else is done. */
    const changeWhile = async (
      act: (kit: Kit, idHash: string) => Promise<unknown>,
      name = 'ana',
    ) => {
      const { whileHashing, ports } = hashingWith()
      const kit = await createKit({ ports })
      const { id } = await setUp(kit, 'ana')
      const login = await kit.app.authenticateWebSession(id)
      const op = { ...kit.operator(), actor: login?.actor ?? kit.operator().actor }
      const sessionHash = login?.id_hash ?? ''
      whileHashing.push(() => act(kit, sessionHash))
      const present = { sessionHash, password, ...here }
      const change = kit.app.setPassword(op, { name, password: 'the first horse battery', present })
      return { kit, outcome: await change.catch(({ type }: { type: string }) => type) }
    }
    const names = async (kit: Kit) =>
      (await kit.app.listOperators(kit.operator())).map(({ name }) => name)

    test('does not bring back one who is removed meanwhile, or make another for them', async () => {
      const remove = (kit: Kit) => kit.app.removeOperator(kit.operator(), { name: 'ana' })
      for (const name of ['ana', 'ben']) {
        const { kit, outcome } = await changeWhile(remove, name)
        await using _closing = kit
        expect(outcome).toBe('AuthenticationFailed')
        expect(await names(kit)).toEqual([])
      }
    })

    test('does not take the place of one that was made meanwhile', async () => {
      const { kit, outcome } = await changeWhile((its) =>
        its.app.setPassword(its.operator(), {
          ...{ name: 'ana', password: 'another horse battery', present: null },
        }),
      )
      await using _closing = kit
      expect(outcome).toBe('AuthenticationFailed')
      const logIn = kit.app.login(kit.operator(), { password: 'another horse battery', ...here })
      expect((await logIn).whoami.name).toBe('ana')
    })

    test('changes nothing once the login that asks was ended', async () => {
      const { kit, outcome } = await changeWhile((its, id_hash) =>
        its.app.logout(its.operator(), { id_hash }),
      )
      await using _closing = kit
      expect(outcome).toBe('AuthenticationFailed')
      expect((await kit.app.login(kit.operator(), { password, ...here })).whoami.name).toBe('ana')
    })

    test('makes nobody anew where it is for a person who is removed meanwhile', async () => {
      const { whileHashing, ports } = hashingWith()
      await using kit = await createKit({ ports })
      const op = kit.operator()
      const viewer = { name: 'vic', role: 'viewer', present: null } as const
      await kit.app.setPassword(op, { ...viewer, password })
      const next = { name: 'vic', password: 'another horse battery', existing: true, present: null }
      expect(await kit.app.setPassword(op, next)).toMatchObject({ role: 'viewer', created: false })
      whileHashing.push(() => kit.app.removeOperator(op, { name: 'vic' }))
      const change = kit.app.setPassword(op, next)
      await expect(change).rejects.toMatchObject({ type: 'OperatorNotFound' })
      expect(await names(kit)).toEqual([])
    })

    test('is made where others come and go meanwhile', async () => {
      const { kit, outcome } = await changeWhile(async (its) => {
        await its.app.setPassword(its.operator(), { name: 'ben', password, present: null })
        await its.app.login(its.operator(), { name: 'ana', password, address: '192.0.2.9' })
        await its.app.removeOperator(its.operator(), { name: 'ben' })
      })
      await using _closing = kit
      expect(outcome).toMatchObject({ name: 'ana', created: false })
      expect(await names(kit)).toEqual(['ana'])
    })
  })

  test('makes the operator where there is none, and from the command line ends all logins', async () => {
    await using kit = await createKit()
    const set = (text: string) =>
      kit.app.setPassword(kit.operator(), { name: 'ben', password: text, present: null })
    expect(await set(password)).toMatchObject({ name: 'ben', created: true })
    const { id } = await kit.app.login(kit.operator(), { password, ...here })
    expect(await set('another horse battery')).toMatchObject({ created: false })
    expect(await kit.app.authenticateWebSession(id)).toBeNull()
    await kit.app.removeOperator(kit.operator(), { name: 'ben' })
    expect(await kit.app.needsSetup()).toBe(true)
    await expect(kit.app.removeOperator(kit.operator(), { name: 'ben' })).rejects.toMatchObject({
      type: 'OperatorNotFound',
    })
  })
})
