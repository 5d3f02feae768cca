import { describe, expect, test } from 'vitest'
import type { Open } from './opened.ts'
import { agentOf, awkwardText, largest, newYear, sessionOf } from './samples.ts'

export const agentMusts = (open: Open): void => {
  describe('agents', () => {
    test('come back exactly as they were stored, also after a restart', async () => {
      await using opened = await open()
      const agent = agentOf('mailbot', {
        purpose: awkwardText,
        workspace: `/data/${awkwardText}`,
        site: awkwardText,
        mounts: [{ path: awkwardText, read_only: false }],
        tools: ['filesystem.*', awkwardText],
        limits: [{ match: 'filesystem.*', limit: 10, window: '1h' }],
        created_ms: largest,
        last_connected_ms: largest,
        total_invocations: largest,
        token_ms: largest,
        previous_token_hash: 'old',
        previous_until_ms: largest,
        generation: largest,
      })
      await opened.storage.agents.insert(agent)
      expect(await opened.storage.agents.find('mailbot')).toEqual(agent)
      const again = await opened.reopen()
      expect(await again.agents.find('mailbot')).toEqual(agent)
    })

    test('are found by the bytes of their name only', async () => {
      await using opened = await open()
      const { agents } = opened.storage
      await agents.insert(agentOf('caf\u00e9'))
      await agents.insert(agentOf('Caf\u00e9'))
      expect((await agents.find('caf\u00e9'))?.name).toBe('caf\u00e9')
      expect((await agents.find('Caf\u00e9'))?.name).toBe('Caf\u00e9')
      for (const other of [
        'cafe\u0301',
        'CAF\u00c9',
        'caf\u00e9 ',
        'caf%',
        'caf\u00e9\0',
        '',
        "' or '1'='1",
      ])
        expect(await agents.find(other)).toBeNull()
    })

    test('have names that nobody can have again, revoked ones too', async () => {
      await using opened = await open()
      const { agents } = opened.storage
      const first = agentOf('mailbot', { status: 'revoked' })
      await agents.insert(first)
      await expect(agents.insert(agentOf('mailbot'))).rejects.toMatchObject({ type: 'AgentExists' })
      expect(await agents.find('mailbot')).toEqual(first)
    })

    test('of one name that are made at once are one', async () => {
      await using opened = await open()
      const made = await Promise.allSettled(
        Array.from({ length: 20 }, () => opened.storage.agents.insert(agentOf('mailbot'))),
      )
      expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    })

    test('are found by their token and by the one before it, whatever their status', async () => {
      await using opened = await open()
      const { agents } = opened.storage
      await agents.insert(agentOf('a', { token_hash: 'new', previous_token_hash: 'old' }))
      await agents.insert(agentOf('b', { token_hash: 'gone', status: 'revoked' }))
      expect((await agents.findByTokenHash('new'))?.name).toBe('a')
      expect((await agents.findByTokenHash('old'))?.name).toBe('a')
      expect((await agents.findByTokenHash('gone'))?.status).toBe('revoked')
      expect(await agents.findByTokenHash('NEW')).toBeNull()
    })

    test('are listed by name, in the order of its bytes', async () => {
      await using opened = await open()
      for (const name of ['b', 'a-b', 'ab', 'a', 'Z', '\u{1F600}', '\uFFFD'])
        await opened.storage.agents.insert(agentOf(name))
      const names = (await opened.storage.agents.list()).map(({ name }) => name)
      expect(names).toEqual(['Z', 'a', 'a-b', 'ab', 'b', '\uFFFD', '\u{1F600}'])
    })

    test('are replaced by whoever saw the latest generation, and keep their counters', async () => {
      await using opened = await open()
      const { agents } = opened.storage
      const first = agentOf('mailbot')
      await agents.insert(first)
      await agents.connected('mailbot', newYear + 5)
      const paused = { ...first, status: 'paused' as const, generation: 2, token_hash: 'other' }
      expect(await agents.replace(first, paused)).toBe(true)
      expect(await agents.replace(first, { ...first, generation: 2 })).toBe(false)
      expect(await agents.find('mailbot')).toEqual({ ...paused, last_connected_ms: newYear + 5 })
      expect(await agents.replace(agentOf('nobody'), agentOf('nobody'))).toBe(false)
    })

    test('are told once for each change, the later ones alone', async () => {
      await using opened = await open()
      const { storage } = opened
      const { agents } = storage
      const since = async (place: number) => {
        const told = await agents.changedSince(place)
        return { ...told, names: told.agents.map(({ name }) => name) }
      }
      expect(await since(0)).toEqual({ agents: [], names: [], place: 0 })
      const [first, second] = [agentOf('mailbot'), { ...agentOf('other'), token_hash: 'two' }]
      await storage.transaction((tx) => tx.agents.insert(first))
      await storage.transaction((tx) => tx.agents.insert(second))
      const all = await since(0)
      expect(all.agents).toEqual([first, second])
      expect(await since(all.place)).toMatchObject({ names: [], place: all.place })
      await agents.connected('other', newYear)
      expect((await since(all.place)).names).toEqual([])

      const next = { ...first, purpose: 'changed', generation: 2 }
      await storage.transaction((tx) => tx.agents.replace(first, next))
      await storage.transaction((tx) => tx.agents.replace(first, next))
      const later = await since(all.place)
      expect(later.agents).toEqual([next])
      expect((await since(0)).names).toEqual(['other', 'mailbot'])
      expect((await since(later.place)).names).toEqual([])
    })

    test('are replaced once when many try at once', async () => {
      await using opened = await open()
      const { agents } = opened.storage
      const first = agentOf('mailbot')
      await agents.insert(first)
      const done = await Promise.all(
        Array.from({ length: 20 }, (_, i) =>
          agents.replace(first, { ...first, purpose: `${i}`, generation: 2 }),
        ),
      )
      expect(done.filter(Boolean)).toHaveLength(1)
      expect((await agents.find('mailbot'))?.purpose).toBe(`${done.indexOf(true)}`)
    })
  })

  describe('sessions', () => {
    test('come back exactly as they were stored, and each only once', async () => {
      await using opened = await open()
      const client = { name: awkwardText, version: awkwardText, protocol: '2025-11-25' }
      const whole = sessionOf('s1', 'a', { client, created_ms: largest, invocations: largest })
      const bare = sessionOf('s2', 'a', { client: null })
      await opened.storage.sessions.insert(whole)
      await opened.storage.sessions.insert(bare)
      await expect(opened.storage.sessions.insert(bare)).rejects.toMatchObject({ type: 'Conflict' })
      const { sessions } = await opened.reopen()
      expect(await sessions.find('s1')).toEqual(whole)
      expect(await sessions.find('s2')).toEqual(bare)
      expect(await sessions.find('S1')).toBeNull()
    })

    test('are listed for their agent, the newest first', async () => {
      await using opened = await open()
      const { sessions } = opened.storage
      for (const [i, id] of ['s1', 's2', 's3'].entries())
        await sessions.insert(sessionOf(id, 'a', { created_ms: newYear + i }))
      await sessions.insert(sessionOf('s4', 'b'))
      expect((await sessions.listOf('a', 2)).map(({ id }) => id)).toEqual(['s3', 's2'])
    })

    test('are told of each agent that is there, the newest one alone', async () => {
      await using opened = await open()
      const { agents, sessions } = opened.storage
      for (const name of ['a', 'b', 'never']) await agents.insert(agentOf(name))
      for (const [i, id] of ['s2', 's1', 's3'].entries())
        await sessions.insert(sessionOf(id, 'a', { created_ms: newYear - i }))
      await sessions.insert(sessionOf('s4', 'b', { client: null }))
      await sessions.insert(sessionOf('s5', 'b', { client: null }))
      const found = await sessions.newest()
      expect(found.map(({ id }) => id).toSorted()).toEqual(['s2', 's5'])
      expect(found.find(({ id }) => id === 's5')).toEqual(sessionOf('s5', 'b', { client: null }))
    })

    test('take the name of their client while they are open', async () => {
      await using opened = await open()
      const client = { name: awkwardText, version: '1.2', protocol: '2025-11-25' }
      for (const id of ['s1', 's2', 's3'])
        await opened.storage.sessions.insert(sessionOf(id, 'a', { client: null }))
      await opened.storage.sessions.end('s2', newYear)
      const set = (id: string) => opened.storage.sessions.setClient(id, client)
      expect([await set('s1'), await set('s2'), await set('unknown')]).toEqual([true, false, false])
      const { sessions } = await opened.reopen()
      expect((await sessions.find('s1'))?.client).toEqual(client)
      for (const id of ['s2', 's3']) expect((await sessions.find(id))?.client).toBeNull()
    })

    test('end once, and keep the moment of it', async () => {
      await using opened = await open()
      const { sessions } = opened.storage
      await sessions.insert(sessionOf('s1', 'a'))
      const ends = await Promise.all([1, 2, 3].map((n) => sessions.end('s1', newYear + n)))
      expect(ends.filter(Boolean)).toHaveLength(1)
      expect((await sessions.find('s1'))?.ended_ms).toBe(newYear + 1 + ends.indexOf(true))
      expect(await sessions.end('unknown', newYear)).toBe(false)
    })

    test('are known by when they were used last, on whatever node', async () => {
      await using opened = await open()
      const { sessions } = opened.storage
      for (const id of ['s1', 's2', 's3']) await sessions.insert(sessionOf(id, 'a'))
      await sessions.used([], newYear)
      await sessions.used(['s1', 's2'], newYear + 10)
      await sessions.used(['s1'], newYear + 5)
      expect(await sessions.findUsed('s1', newYear + 10)).toEqual(sessionOf('s1', 'a'))
      expect(await sessions.findUsed('s1', newYear + 11)).toBeNull()
      expect(await sessions.findUsed('s3', newYear)).toEqual(sessionOf('s3', 'a'))
      const unused = async (sinceMs: number, limit = 9) =>
        (await sessions.listUnused(sinceMs, limit)).map(({ id }) => id)
      expect(await unused(newYear + 10)).toEqual(['s3'])
      expect(await unused(newYear + 11)).toEqual(['s1', 's2', 's3'])
      expect(await unused(newYear + 11, 2)).toEqual(['s1', 's2'])
      await sessions.end('s1', newYear + 20)
      expect(await sessions.findUsed('s1', newYear)).toBeNull()
      expect(await unused(newYear + 11)).toEqual(['s2', 's3'])
      expect(await sessions.endedSince(newYear + 20)).toEqual(['s1'])
      expect(await sessions.endedSince(newYear + 21)).toEqual([])
    })

    test('end all together, or all of one agent', async () => {
      await using opened = await open()
      const { sessions } = opened.storage
      for (const [id, agent] of [
        ['s1', 'a'],
        ['s2', 'a'],
        ['s3', 'b'],
        ['s4', 'c'],
      ] as const)
        await sessions.insert(sessionOf(id, agent))
      await sessions.end('s4', newYear)
      expect(await sessions.countOpen()).toBe(3)
      expect(await sessions.endAll(newYear + 1, 'a')).toBe(2)
      expect(await sessions.countOpen()).toBe(1)
      expect(await sessions.endAll(newYear + 2)).toBe(1)
      expect(await sessions.countOpen()).toBe(0)
      expect((await sessions.find('s1'))?.ended_ms).toBe(newYear + 1)
      expect((await sessions.find('s4'))?.ended_ms).toBe(newYear)
    })
  })
}
