import { createKit } from '@gatehouse/testkit'
import { expect, test } from 'vitest'

test('lists each agent with what connected last, and the age of its token', async () => {
  await using kit = await createKit()
  for (const name of ['idle', 'mailbot']) await kit.agent(name)
  const client = { name: 'claude-code', version: '2.1', protocol: '2025-11-25' }
  for (const last of [null, client]) {
    await kit.app.openSession(kit.op('mailbot'), { transport: 'mcp-http', client: last })
    kit.clock.move(1_000)
  }
  const listed = async () => kit.app.listAgents(kit.operator())
  const [idle, mailbot] = await listed()
  expect(idle).toMatchObject({ name: 'idle', last_session: null })
  expect(mailbot?.last_session).toEqual({ transport: 'mcp-http', client })
  expect(mailbot?.token_created_at).toBe(mailbot?.created_at)
  await kit.app.rotateAgent(kit.operator(), { name: 'mailbot', overlap_seconds: 0 })
  const [, rotated] = await listed()
  const aged = Date.parse(rotated?.token_created_at ?? '') - Date.parse(rotated?.created_at ?? '')
  expect(aged).toBeGreaterThanOrEqual(2_000)
  await kit.app.revokeAgent(kit.operator(), { name: 'mailbot' })
  kit.clock.move(5_000)
  await kit.app.restoreAgent(kit.operator(), { name: 'mailbot' })
  const [, restored] = await listed()
  const since = (agent: typeof restored) => Date.parse(agent?.token_created_at ?? '')
  expect(since(restored) - since(rotated)).toBeGreaterThanOrEqual(5_000)
})
