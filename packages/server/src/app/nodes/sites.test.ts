import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { StoredNode } from '@gatehouse/server/ports/nodes'
import type { Storage } from '@gatehouse/server/ports/storage'
import { createKit, failureIn, type Kit } from '@gatehouse/testkit'
import { replacing } from '@gatehouse/testkit/replacing'
import { expect, test } from 'vitest'

const policy = `version: 1
rules:
  - { match: filesystem.append, tier: approval_required }
`
/** Its database has the time of the test's clock. */
const openKit = async (
  startsLater = false,
  nodesOf = (own: Storage): Storage['nodes'] => own.nodes,
): Promise<Kit> => {
  const opened: { kit: Kit | null } = { kit: null }
  const wallMs = async () => opened.kit?.clock.wall() ?? 0
  const storage = (own: Storage): Storage => ({
    ...{ ...own, isShared: true, isNetworked: true, wallMs },
    nodes: nodesOf(own),
  })
  opened.kit = await createKit({ storage, policy, startsLater })
  return opened.kit
}

/** Its log has no copies in the database, which a look at its integrity would miss. */
const entriesOf = async (kit: Kit, capability: string) =>
  (await kit.app.queryAudit(kit.operator(), { capability, limit: 10, offset: 0 })).entries

const siteOf = (kit: Kit): string => kit.parts.workspaces.site ?? ''

/** Another node, as it last said of itself. */
const putNode = async (kit: Kit, facts: object, over: Partial<StoredNode> = {}): Promise<void> => {
  const nowMs = kit.clock.wall()
  await kit.storage.nodes.put({
    ...{ name: 'node-b', place: 'b:/data', version: '0.1.0', address: 'http://b.example:7700' },
    ...{ state: 'active', started_ms: nowMs, seen_ms: nowMs + 3_600_000 },
    facts_json: JSON.stringify({ policy_version: null, sessions: 0, processes: 0, ...facts }),
    ...over,
  })
}

/** The agent's workspace is another node's from now on. */
const moveAway = async (kit: Kit, name: string): Promise<void> => {
  const agent = await kit.storage.agents.find(name)
  if (!agent) throw new Error(`there is no ${name}`)
  const next = { ...agent, site: 'site-b', generation: agent.generation + 1 }
  await kit.storage.agents.replace(agent, next)
  await kit.app.listAgents(kit.operator())
  await kit.app.editAgent(kit.operator(), { name, changes: { purpose: 'Away' }, versions: null })
}

const line = { path: 'log.txt', content: 'x' }

test('a call that reaches into folders of another node is refused with where they are', async () => {
  await using kit = await openKit()
  await putNode(kit, { site: 'site-b' })
  await kit.agent('alpha')
  expect(await kit.storage.agents.find('alpha')).toMatchObject({ site: siteOf(kit) })
  await kit.run('alpha', 'filesystem.write', { path: 'a.txt', content: 'x' })
  await moveAway(kit, 'alpha')

  const refused = failureIn(await kit.invoke('alpha', 'filesystem.read', { path: 'a.txt' }))
  expect(refused).toMatchObject({
    type: 'WorkspaceElsewhere',
    message: 'The workspace of alpha is not on this node: node-b has it, at http://b.example:7700.',
  })
  expect(await entriesOf(kit, 'filesystem.read')).toMatchObject([
    { result: 'error', error: { type: 'WorkspaceElsewhere' } },
  ])
  // Nobody is asked about what could not run here.
  expect(failureIn(await kit.invoke('alpha', 'filesystem.append', line))?.type).toBe(
    'WorkspaceElsewhere',
  )
  expect(await kit.invoke('alpha', 'state.set', { key: 'a', value: 1 })).toMatchObject({
    kind: 'succeeded',
  })
  const unreachable = async () => {
    const { nodes } = await kit.app.listNodes(kit.operator())
    return nodes.find(({ name }) => name === 'node-b')?.unreachable
  }
  expect(await unreachable()).toBeNull()
  kit.app.nodes.ways.failed({ node: 'node-b', url: 'http://b.example:7701' }, 'ECONNREFUSED')
  expect(await unreachable()).toBe('http://b.example:7701: ECONNREFUSED')
  expect(failureIn(await kit.invoke('alpha', 'git.status', { path: '.' }))?.message).toContain(
    "at http://b.example:7700, and this node can't reach it (http://b.example:7701: ECONNREFUSED).",
  )
  await putNode(kit, { site: 'site-b' }, { seen_ms: 0 })
  expect(await unreachable()).toBeNull()
  expect(failureIn(await kit.invoke('alpha', 'git.status', { path: '.' }))?.message).toContain(
    'node-b (b:/data) has it, which does not run now',
  )
})

test('a request about folders of another node is decided here and runs there', async () => {
  await using kit = await openKit()
  await putNode(kit, { site: 'site-b' })
  await kit.agent('alpha')
  await kit.run('alpha', 'filesystem.write', { path: 'log.txt', content: '' })
  const asked = await kit.pending('alpha', 'filesystem.append', line)
  const edited = await kit.pending('alpha', 'filesystem.append', { ...line, content: 'y' })
  await moveAway(kit, 'alpha')
  const shown = await kit.app.showApproval(kit.operator(), { approval_id: asked })
  expect(shown.stale).toBeNull()
  await expect(
    kit.decide(edited, 'approve', { arguments: { ...line, content: 'z' } }),
  ).rejects.toMatchObject({ type: 'WorkspaceElsewhere' })
  expect(await kit.decide(asked, 'approve')).toMatchObject({ kind: 'decided' })
  // Looks of this node go by, of which each ends with those that expired.
  kit.clock.move(24 * 3_600_000)
  await expect.poll(async () => (await kit.storage.approvals.find(edited))?.status).toBe('expired')
  expect(await kit.storage.approvals.find(asked)).toMatchObject({
    status: 'approved',
    execution: 'waiting',
  })
  expect(readFileSync(join(kit.workspace('alpha'), 'log.txt'), 'utf8')).toBe('')
})

test('agents whose workspace no node has are taken by the one where it is', async () => {
  await using kit = await openKit()
  await kit.agent('alpha')
  await kit.agent('beta')
  await kit.agent('gamma')
  for (const name of ['alpha', 'beta', 'gamma']) await moveAway(kit, name)
  rmSync(kit.workspace('beta'), { recursive: true })
  await putNode(kit, { site: 'site-c' })
  kit.clock.move(60_000)
  const places = async () =>
    (await kit.storage.agents.list()).map(({ name, site }) => `${name} ${site}`)
  await expect.poll(places).toEqual([`alpha ${siteOf(kit)}`, 'beta site-b', `gamma ${siteOf(kit)}`])
  expect(await entriesOf(kit, 'agent.placed')).toHaveLength(2)
  expect(await kit.invoke('alpha', 'filesystem.list', { path: '.' })).toMatchObject({
    kind: 'succeeded',
  })
  expect(failureIn(await kit.invoke('beta', 'filesystem.list', { path: '.' }))?.message).toContain(
    'no node that is known has it',
  )
  mkdirSync(kit.workspace('beta'))
  kit.clock.move(60_000)
  await expect.poll(places).toContain(`beta ${siteOf(kit)}`)
})

test('a copy of the folder of workspaces is not taken for the folder, at the start or later', async () => {
  await using kit = await openKit(true)
  const site = siteOf(kit)
  const { node } = kit.parts
  const file = join(kit.workspace('..'), 'workspaces/.gatehouse-mark.node-b')
  const markHere = async () =>
    JSON.parse((await kit.storage.nodes.find(node))?.facts_json ?? '{}').site_mark as string
  writeFileSync(file, 'mark of b')
  const putB = (site_mark: string, sees_marks: readonly string[]) =>
    putNode(kit, { site, site_mark, sees_marks })
  const refused = {
    type: 'NodeUnfit',
    message: expect.stringContaining('has the id of that of node-b (b:/data)') as string,
  }
  // It does not see this node's mark; this node does not see its mark.
  await putB('mark of b', ['older'])
  await expect(kit.app.nodes.assertFits()).rejects.toMatchObject(refused)
  await putB('newer', [await markHere()])
  await expect(kit.app.nodes.assertFits()).rejects.toMatchObject(refused)

  // One that has said nothing since then is waited for.
  const nowMs = kit.clock.wall()
  await putNode(kit, { site, site_mark: 'mark of b' }, { seen_ms: nowMs })
  const before = await markHere()
  const fits = kit.app.nodes.assertFits()
  await expect.poll(markHere).not.toBe(before)
  await putB('mark of b', [await markHere()])
  const waiting = setInterval(() => kit.clock.move(250), 10)
  await fits.finally(() => clearInterval(waiting))
  await kit.app.start()
  const list = () => kit.app.listNodes(kit.operator())
  expect(await list()).toMatchObject({ workspaces: 'shared', nodes: [{ site }, { site }] })

  const reasonAfterBeats = async () => {
    kit.clock.move(2_000)
    return (await kit.app.health(kit.operator())).components.nodes.reason ?? ''
  }
  const copied = "node-b has a copy of this node's folder of workspaces"
  await putB('newer', [await markHere()])
  await expect.poll(reasonAfterBeats).toContain(copied)
  await putNode(kit, { site: 'site-b', site_mark: 'newer' })
  await expect.poll(reasonAfterBeats).not.toContain(copied)
  expect(await list()).toMatchObject({ workspaces: 'separate' })
  expect((await kit.app.health(kit.operator())).components.nodes.workspaces).toBe('separate')
})

test('a node that is slow to enter is not taken for one with a copy by what another said meanwhile', async () => {
  const late: { entering: (() => Promise<void>) | null } = { entering: null }
  await using kit = await openKit(true, ({ nodes }) =>
    replacing(nodes, {
      list: async () => {
        await late.entering?.()
        return nodes.list()
      },
    }),
  )
  const site = siteOf(kit)
  const { node } = kit.parts
  const mark = 'mark of b'
  writeFileSync(join(kit.workspace('..'), 'workspaces/.gatehouse-mark.node-b'), mark)
  const beat = (sees_marks: readonly string[]) =>
    putNode(kit, { site, site_mark: mark, sees_marks }, { seen_ms: kit.clock.wall() })
  await beat([])
  late.entering = async () => {
    late.entering = null
    kit.clock.move(7_000)
    await beat([])
  }
  const fits = kit.app.nodes.assertFits()
  await expect.poll(() => kit.storage.nodes.find(node)).not.toBeNull()
  const { facts_json = '{}' } = (await kit.storage.nodes.find(node)) ?? {}
  // It looks at what the other said, again and again.
  for (let look = 0; look < 4; look += 1) {
    kit.clock.move(250)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  await beat([String(JSON.parse(facts_json).site_mark)])
  const waiting = setInterval(() => kit.clock.move(250), 10)
  await fits.finally(() => clearInterval(waiting))
})
