import type { StoredSession } from '@gatehouse/server/ports/agents'
import type { Storage } from '@gatehouse/server/ports/storage'
import { createKit, type Kit } from '@gatehouse/testkit'
import { expect, test } from 'vitest'

const networked = (own: Storage): Storage => ({ ...own, isShared: true, isNetworked: true })
const minuteMs = 60_000

/** A session that another node opened. */
const putSession = async (kit: Kit, id: string, over: Partial<StoredSession> = {}): Promise<void> =>
  kit.storage.sessions.insert({
    ...{ id, agent: 'alpha', transport: 'mcp-http', client: null },
    ...{ created_ms: kit.clock.wall(), ended_ms: null, invocations: 0 },
    ...over,
  })

const assertSession = (kit: Kit, session_id: string) =>
  kit.app.assertSession(kit.op('alpha'), { session_id })
const isEnded = async (kit: Kit, id: string) =>
  (await kit.storage.sessions.find(id))?.ended_ms !== null

test('a session of another node is taken over by its agent, unless it ended, is idle or hangs on a socket', async () => {
  await using kit = await createKit({ storage: networked })
  await kit.agent('alpha')
  await putSession(kit, 's-open')
  await putSession(kit, 's-other', { agent: 'beta' })
  await putSession(kit, 's-ended', { ended_ms: kit.clock.wall() })
  await putSession(kit, 's-socket', { transport: 'mcp-websocket' })
  await putSession(kit, 's-idle', { created_ms: kit.clock.wall() - 31 * minuteMs })
  await assertSession(kit, 's-open')
  for (const id of ['s-other', 's-ended', 's-socket', 's-idle', 's-unknown'])
    await expect(assertSession(kit, id)).rejects.toMatchObject({ type: 'SessionNotFound' })

  // The other node ends it.
  await kit.storage.sessions.end('s-open', kit.clock.wall())
  await expect
    .poll(async () => {
      kit.clock.move(2_000)
      return assertSession(kit, 's-open').then(
        () => 'open',
        (cause: { type: string }) => cause.type,
      )
    })
    .toBe('SessionNotFound')
})

test('a session that is used on another node does not end here, and that of a dead node does', async () => {
  await using kit = await createKit({ storage: networked })
  await kit.agent('alpha')
  await putSession(kit, 's-moved')
  await putSession(kit, 's-left', { transport: 'mcp-websocket' })
  await assertSession(kit, 's-moved')
  kit.clock.move(20 * minuteMs)
  await kit.storage.sessions.used(['s-moved'], kit.clock.wall())
  kit.clock.move(13 * minuteMs)
  await expect
    .poll(async () => {
      kit.clock.move(minuteMs / 10)
      return isEnded(kit, 's-left')
    })
    .toBe(true)
  expect(await isEnded(kit, 's-moved')).toBe(false)
  await assertSession(kit, 's-moved')
})
