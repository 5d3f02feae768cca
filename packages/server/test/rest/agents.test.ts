import type { AgentDetail } from '@gatehouse/contract'
import { expect, test } from 'vitest'
import { openRestKit } from './kit.ts'

const role = 'operator'
const path = '/api/agents/mailbot'

test('an agent is read with its ETag, and changed by whoever read it last', async () => {
  await using kit = await openRestKit()
  const read = await kit.call('GET', path, { role })
  const etag = read.headers.get('etag') ?? ''
  expect(etag).toBe('"1"')
  const edit = (tag: string, purpose: string) =>
    kit.call('PATCH', path, { role, headers: { 'if-match': tag }, body: { purpose } })
  const first = await edit(etag, 'Mail')
  expect(first.status).toBe(200)
  expect(first.headers.get('etag')).toBe('"2"')
  expect(first.body).toMatchObject({ agent: { purpose: 'Mail', version: 2 }, warnings: [] })
  const late = await edit(etag, 'Late')
  expect(late.status).toBe(412)
  expect(late.body).toMatchObject({
    code: 'AgentChanged',
    current: { purpose: 'Mail', version: 2 },
  })
  expect((await edit('"9", "2"', 'One of two')).status).toBe(200)
  expect((await edit('*', 'Any')).status).toBe(200)
  expect((await edit('W/"4"', 'Weak')).status).toBe(412)
  expect((await edit('4', 'Bare')).status).toBe(400)
})

test('a malformed pattern is refused by its place and its text', async () => {
  await using kit = await openRestKit()
  for (const wrong of ['filesystem', 'file system.*', 'a.b.c', '.read', 'git.', 'Git.log', '']) {
    const answer = await kit.call('PATCH', path, { role, body: { tools: ['git.*', wrong] } })
    expect(answer.status).toBe(400)
    const [error] = answer.body.errors as { pointer: string; detail: string }[]
    expect(error?.pointer).toBe('/tools/1')
    expect(error?.detail).toContain(JSON.stringify(wrong))
  }
  const body = { tools: ['*', 'github.list_*', '*.get', 'jira-*.getIssue'] }
  expect((await kit.call('PATCH', path, { role, body })).status).toBe(200)
})

test('an agent is shown with what its list of tools costs', async () => {
  await using kit = await openRestKit({ settings: { 'mcp.tools_max': 30 } })
  const list = async () => (await kit.call('GET', path, { role })).body['tool_list']
  const searched = (await list()) as AgentDetail['tool_list']
  expect(searched.offered).toBe(12)
  expect(searched.callable).toBeGreaterThan(60)
  expect(searched.tokens_estimate).toBe(Math.ceil(searched.size_bytes / 4))
  const changes = { tools: ['filesystem.*'] }
  await kit.call('PATCH', path, { role, body: changes })
  const whole = (await list()) as AgentDetail['tool_list']
  expect(whole.offered).toBe(whole.callable)
})

test('nothing but what may be edited is taken', async () => {
  await using kit = await openRestKit()
  const answer = await kit.call('PATCH', path, { role, body: { status: 'active' } })
  expect(answer.status).toBe(400)
  expect(answer.body.errors).toMatchObject([{ pointer: '/status' }])
})

test('limits of its own hold from the next call on, beside those of policy', async () => {
  await using kit = await openRestKit()
  const edit = (tag: string, ...limits: readonly object[]) =>
    kit.call('PATCH', path, { role, headers: { 'if-match': tag }, body: { limits } })
  const own = { match: 'system.*', limit: 1, window: '1h' }
  const first = await edit('"1"', own)
  expect(first.body).toMatchObject({ agent: { limits: [own], version: 2 }, warnings: [] })
  expect((await edit('"1"')).status).toBe(412)
  const time = async () => (await kit.kit.invoke('mailbot', 'system.time')).kind
  expect([await time(), await time()]).toEqual(['succeeded', 'limited'])
  const { stats } = (await kit.call('GET', path, { role })).body as unknown as AgentDetail
  const shown = stats.rate_limits.filter(({ match }) => match === 'system.*')
  expect(shown).toEqual([{ ...own, used: 1 }])
  const edits = (await kit.kit.audit()).filter(({ capability }) => capability === 'agent.edited')
  expect(edits.map((entry) => entry.arguments)).toEqual([{ name: 'mailbot', limits: [own] }])
  const idle = await edit('"2"', { ...own, match: 'sytem.*' })
  expect(idle.body['warnings']).toEqual(['The limit for sytem.* counts nothing that is known now.'])
  expect(await time()).toBe('succeeded')
  const bad = await edit('*', { match: 'system.*', limit: 1, window: '1w' })
  expect(bad.status).toBe(400)
  expect(bad.body['errors']).toMatchObject([{ pointer: '/limits/0/window' }])
})
