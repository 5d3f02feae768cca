import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { StoredNode } from '@gatehouse/server/ports/nodes'
import type { Storage } from '@gatehouse/server/ports/storage'
import { createKit, failureIn, type Kit } from '@gatehouse/testkit'
import { inTime } from '@gatehouse/testkit/in-time'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { defineCapability } from '../../capabilities/define.ts'
import type { Capability } from '../../ports/capability.ts'

/** A node whose database has the time of the test's clock, beside `node-b`. */
const openKit = async (capabilities: readonly Capability[] = []): Promise<Kit> => {
  const opened: { kit: Kit | null } = { kit: null }
  const wallMs = async () => opened.kit?.clock.wall() ?? 0
  const storage = (own: Storage): Storage => ({ ...own, isShared: true, isNetworked: true, wallMs })
  const kit = await createKit({ storage, capabilities })
  opened.kit = kit
  await putNode(kit)
  return kit
}

const putNode = async (kit: Kit, over: Partial<StoredNode> = {}): Promise<void> => {
  const nowMs = kit.clock.wall()
  const facts = { site: 'site-b', site_path: '/b/workspaces', policy_version: null }
  await kit.storage.nodes.put({
    ...{ name: 'node-b', place: 'b:/data', version: kit.app.version, address: 'http://b.example' },
    ...{ state: 'active', started_ms: nowMs, seen_ms: nowMs + 3_600_000 },
    facts_json: JSON.stringify(facts),
    ...over,
  })
}

const move = (kit: Kit, to = 'node-b') => kit.app.moveAgent(kit.operator(), { name: 'alpha', to })
const pause = (kit: Kit) => kit.app.pauseAgent(kit.operator(), { name: 'alpha' })
const resume = (kit: Kit) => kit.app.resumeAgent(kit.operator(), { name: 'alpha' })
const shown = (kit: Kit) => kit.app.showAgent(kit.operator(), { name: 'alpha' })
const refusal = async (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'it was done',
    (cause: Error) => cause.message,
  )
const read = (kit: Kit) => kit.invoke('alpha', 'filesystem.read', { path: 'a.txt' })
const write = (kit: Kit, content: string) =>
  kit.run('alpha', 'filesystem.write', { path: 'a.txt', content })
const folders = (kit: Kit) =>
  readdirSync(kit.parts.workspaces.path).filter((name) => name.startsWith('alpha'))
const entriesOf = async (kit: Kit, capability: string) =>
  (await kit.app.queryAudit(kit.operator(), { capability, limit: 10, offset: 0 })).entries

const bSays = async (kit: Kit, ready: boolean): Promise<void> => {
  const moves = JSON.parse((await kit.storage.meta.get('agent_moves')) ?? '{}')
  const { alpha } = moves
  const next = ready
    ? { ...alpha, under_way: { ...alpha.under_way, ready } }
    : { under_way: null, left: [...alpha.left, alpha.under_way.from_site] }
  await kit.storage.meta.set('agent_moves', JSON.stringify({ ...moves, alpha: next }))
}

const stepMs = 250

/** A move to node-b, which says that it is ready. */
const moveToB = async (kit: Kit) => {
  const moving = move(kit)
  await expect.poll(async () => (await shown(kit)).move?.to.node).toBe('node-b')
  await bSays(kit, true)
  return inTime(kit, moving, stepMs)
}

const asked = async (kit: Kit) =>
  JSON.parse((await kit.storage.meta.get('agent_moves')) ?? '{}').alpha?.asked

/** A move here, of which node-b says whether a call of the agent runs there. */
const moveHere = async (kit: Kit, runs = false) => {
  const moving = move(kit, kit.parts.node)
  await expect.poll(() => asked(kit)).toBeDefined()
  const moves = JSON.parse((await kit.storage.meta.get('agent_moves')) ?? '')
  moves.alpha.asked.runs['node-b'] = runs
  await kit.storage.meta.set('agent_moves', JSON.stringify(moves))
  return inTime(kit, moving, stepMs)
}

/** A person resumes the agent at node-b. */
const resumeAtB = async (kit: Kit): Promise<void> => {
  await bSays(kit, false)
  const agent = await kit.storage.agents.find('alpha')
  if (!agent) throw new Error('there is no alpha')
  const next = { ...agent, status: 'active' as const, generation: agent.generation + 1 }
  await kit.storage.agents.replace(agent, next)
}

test('a move names what is in its way, and what to do about it', async () => {
  await using kit = await openKit()
  const { node } = kit.parts
  await kit.agent('alpha')
  expect(await refusal(move(kit))).toContain('pause it first: gatehouse agent pause alpha')
  await kit.app.pauseAll(kit.operator(), { reason: 'lunch' })
  expect(await refusal(move(kit))).toContain('it would be resumed with all others')
  await pause(kit)

  expect(await refusal(move(kit, 'node-c'))).toBe('There is no node node-c.')
  expect(await refusal(move(kit, node))).toContain(`to: ${node} is the node of alpha already`)
  await putNode(kit, { state: 'draining' })
  expect(await refusal(move(kit))).toContain('to: node-b is draining')
  await putNode(kit, { state: 'stopped' })
  expect(await refusal(move(kit))).toContain('to: node-b is stopped')
  await putNode(kit, { seen_ms: 0 })
  expect(await refusal(move(kit))).toContain('to: node-b is missing')
  await putNode(kit, { version: '0.0.1' })
  expect(await refusal(move(kit))).toContain('to: node-b runs 0.0.1')
  await putNode(kit, { facts_json: '{}' })
  expect(await refusal(move(kit))).toContain('to: node-b is the only node')
  await putNode(kit)

  const [agent, command] = ['alpha', 'sleep']
  await kit.storage.processes.insert({
    ...{ id: 'proc-1', agent, node: 'node-b', command, args_json: '[]', working_directory: '/' },
    ...{ network_json: '[]', sandbox: 'none', state: 'running', exit_code: null, signal: null },
    ...{ detail: null, stdout_bytes: 0, stderr_bytes: 0, cpu_ms: null, memory_bytes_max: null },
    ...{ started_ms: 0, ended_ms: null },
  })
  expect(await refusal(move(kit))).toContain('end it: gatehouse processes kill proc-1')
  const program = await kit.storage.processes.find('proc-1')
  if (program) await kit.storage.processes.update({ ...program, state: 'completed', ended_ms: 1 })
  const job = {
    ...{ id: 'job-1', kind: 'scheduled_call', subject: 'sch-1', agent, payload_json: '{}' },
    ...{ state: 'running' as const, due_ms: 0, attempts: 1, attempts_max: 1, owner: 'node-b' },
    ...{ lease_ms: kit.clock.now() + 1_000, created_ms: 0, started_ms: 0 },
    ...{ finished_ms: null, outcome_json: null },
  }
  await kit.storage.jobs.insert(job)
  expect(await refusal(move(kit))).toContain('a call of its schedule sch-1 runs')
  await kit.storage.jobs.replace(job, { ...job, state: 'done', owner: null, finished_ms: 1 })
  expect((await kit.storage.agents.find('alpha'))?.site).toBe(kit.parts.workspaces.site)
})

test('an approved call that runs is waited for', async () => {
  await using kit = await openKit()
  await kit.parts.policy.save({
    text: 'version: 1\nrules:\n  - { match: state.set, tier: approval_required }\n',
  })
  await kit.agent('alpha')
  const id = await kit.pending('alpha', 'state.set', { key: 'k', value: 1 })
  await pause(kit)
  const asked = await kit.storage.approvals.find(id)
  if (!asked) throw new Error(`there is no ${id}`)
  const running = { ...asked, status: 'approved', execution: 'running', exec_id: 'x' } as const
  await kit.storage.approvals.replace(asked, running)
  expect(await refusal(move(kit))).toContain(`its approved call ${id} (state.set) runs; wait`)
})

/** A call that ends when it is let. */
const openCall = () => {
  const gates = [0, 1].map(() => {
    let open = (): void => undefined
    const opened = new Promise<void>((resolve) => {
      open = resolve
    })
    return { open, opened }
  })
  const [begun, end] = gates as [(typeof gates)[0], (typeof gates)[0]]
  const capability = defineCapability({
    title: 'Wait',
    name: 'test.wait',
    version: '1.0',
    purpose: 'Wait.',
    when_to_use: 'In tests.',
    inputs: z.strictObject({}),
    outputs: z.object({}),
    result_bytes_max: 1_000,
    tier: 'autonomous',
    effect: 'immediate',
    timeout_seconds: 3_600,
    errors: [],
    async run() {
      begun.open()
      await end.opened
      return {}
    },
  })
  return { capability, begun: begun.opened, end: end.open }
}

test('a call that began before the pause is waited for, and is in the way while it runs', async () => {
  const { capability, begun, end } = openCall()
  await using kit = await openKit([capability])
  const { node, workspaces } = kit.parts
  await kit.agent('alpha')
  const call = kit.invoke('alpha', 'test.wait')
  await begun
  await pause(kit)
  expect(await inTime(kit, refusal(move(kit)), stepMs)).toContain(
    `a call of it runs on ${node}; wait for it`,
  )
  expect((await kit.storage.agents.find('alpha'))?.site).toBe(workspaces.site)
  expect(await kit.storage.meta.get('agent_moves')).toBe('{}')

  const moving = moveToB(kit)
  await expect.poll(() => asked(kit)).toMatchObject({ runs: { [node]: true } })
  end()
  await expect
    .poll(async () => {
      kit.clock.move(250)
      return (await shown(kit)).move?.to.node
    })
    .toBe('node-b')
  expect(await moving).toMatchObject({ agent: { site: 'site-b' } })
  expect((await call).kind).toBe('succeeded')
})

test('of the node that has the folder another one learns whether a call runs there', async () => {
  await using kit = await openKit()
  await kit.agent('alpha')
  await pause(kit)
  await moveToB(kit)
  expect(await refusal(moveHere(kit, true))).toContain('a call of it runs on node-b; wait for it')
  const unheard = inTime(kit, refusal(move(kit, kit.parts.node)), stepMs)
  expect(await unheard).toContain('node-b has not said whether a call of it runs there')
  // Resumed and paused meanwhile it may run something.
  const moving = move(kit, kit.parts.node)
  await expect.poll(() => asked(kit)).toBeDefined()
  const agent = await kit.storage.agents.find('alpha')
  if (!agent) throw new Error('there is no alpha')
  await kit.storage.agents.replace(agent, { ...agent, generation: agent.generation + 1 })
  await putNode(kit, { state: 'stopped' })
  expect(await inTime(kit, refusal(moving), stepMs)).toContain('was changed by somebody else')
  // One that does not run has nothing to say.
  expect(await move(kit, kit.parts.node)).toMatchObject({ move: null })
})

test('an approved call does not run by what was known of its agent before a pause elsewhere', async () => {
  await using kit = await openKit()
  await kit.parts.policy.save({
    text: 'version: 1\nrules:\n  - { match: state.set, tier: approval_required }\n',
  })
  await kit.agent('alpha')
  const id = await kit.pending('alpha', 'state.set', { key: 'k', value: 1 })
  const agent = await kit.storage.agents.find('alpha')
  if (!agent) throw new Error('there is no alpha')
  const paused = { ...agent, status: 'paused' as const, generation: agent.generation + 1 }
  await kit.storage.agents.replace(agent, paused)
  await kit.decide(id, 'approve')
  await expect
    .poll(async () => {
      kit.clock.move(1_000)
      return (await kit.storage.approvals.find(id))?.execution
    })
    .toBe('refused')
})

test('an agent goes to another node: it is resumed there alone, and what it left here is set aside', async () => {
  await using kit = await openKit()
  await kit.agent('alpha')
  await write(kit, 'one')
  await pause(kit)
  const moved = await moveToB(kit)
  expect(moved).toMatchObject({
    agent: { site: 'site-b', status: 'paused' },
    move: {
      from: { node: kit.parts.node, folder: kit.workspace('alpha') },
      to: { node: 'node-b', folder: '/b/workspaces/alpha' },
      ...{ ready: true, set_aside: null },
    },
  })
  expect(await entriesOf(kit, 'agent.placed')).toMatchObject([
    { actor: 'user:ana', arguments: { name: 'alpha', from: kit.parts.node, node: 'node-b' } },
  ])
  expect(await refusal(resume(kit))).toContain('it moves to node-b; resume it there')
  // Until then nothing is taken away from here.
  kit.clock.move(2_000)
  expect(folders(kit)).toEqual(['alpha'])

  await resumeAtB(kit)
  kit.clock.move(2_000)
  await expect.poll(() => folders(kit)).toEqual([expect.stringMatching(/^alpha\.before-\d{4}-/)])
  expect(readFileSync(join(kit.workspace(folders(kit)[0] ?? ''), 'a.txt'), 'utf8')).toBe('one')
  await expect
    .poll(() => entriesOf(kit, 'agent.folder_set_aside'))
    .toMatchObject([{ arguments: { name: 'alpha', folder: folders(kit)[0] } }])
  expect(await kit.storage.meta.get('agent_moves')).toBe('{}')
  expect(failureIn(await read(kit))?.type).toBe('WorkspaceElsewhere')
})

test('an agent comes here: no older folder and no empty one is taken for its workspace', async () => {
  await using kit = await openKit()
  const { node } = kit.parts
  await kit.agent('alpha')
  await write(kit, 'old')
  await pause(kit)
  await moveToB(kit)
  // It works there, while this node has not got to set the old folder aside.
  await kit.storage.meta.set('agent_moves', '{}')

  const { move: back } = await moveHere(kit)
  expect(back).toMatchObject({ ready: true, set_aside: expect.stringMatching(/^alpha\.before-/) })
  expect(folders(kit)).toEqual([back?.set_aside])
  expect(await refusal(resume(kit))).toContain(
    `its folder is not here yet; copy workspaces/alpha from node-b to ${node}`,
  )
  expect((await shown(kit)).move).toEqual(back)
  // Also one that is restored is not resumed thereby.
  await kit.app.revokeAgent(kit.operator(), { name: 'alpha' })
  const { token } = await kit.app.restoreAgent(kit.operator(), { name: 'alpha' })
  await kit.authenticate(token)
  expect((await shown(kit)).status).toBe('paused')
  expect(existsSync(kit.workspace('alpha'))).toBe(false)

  mkdirSync(kit.workspace('alpha'))
  writeFileSync(join(kit.workspace('alpha'), 'a.txt'), 'new')
  await resume(kit)
  expect(await read(kit)).toMatchObject({ kind: 'succeeded', data: { content: 'new' } })
  expect((await shown(kit)).move).toBeNull()
})

test('a workspace that is gone is not made anew in silence', async () => {
  await using kit = await openKit()
  const { node } = kit.parts
  await kit.agent('alpha')
  await pause(kit)
  await moveToB(kit)
  await kit.storage.meta.set('agent_moves', '{}')
  await moveHere(kit)
  const agent = await kit.storage.agents.find('alpha')
  if (!agent) throw new Error('there is no alpha')
  // A version before this one resumes it at once.
  const next = { ...agent, status: 'active' as const, generation: agent.generation + 1 }
  await kit.storage.agents.replace(agent, next)
  kit.clock.move(2_000)
  await expect
    .poll(async () => failureIn(await read(kit))?.message)
    .toContain(`it is on its way; copy workspaces/alpha from node-b to ${node}, then resume it`)
  expect(existsSync(kit.workspace('alpha'))).toBe(false)
})

test('a move that is called back leaves the folder as it is, and another one what was copied', async () => {
  await using kit = await openKit()
  await kit.agent('alpha')
  await write(kit, 'one')
  await pause(kit)
  await moveToB(kit)
  expect(await moveHere(kit)).toMatchObject({
    agent: { site: kit.parts.workspaces.site },
    move: null,
  })
  // What was copied to node-b by then is for that node to set aside.
  expect(JSON.parse((await kit.storage.meta.get('agent_moves')) ?? '')).toEqual({
    alpha: { under_way: null, left: ['site-b'] },
  })
  await resume(kit)
  expect(await read(kit)).toMatchObject({ kind: 'succeeded', data: { content: 'one' } })
})

test('an agent that an older node has taken is not taken away from it again', async () => {
  await using kit = await openKit()
  await kit.agent('alpha')
  await write(kit, 'one')
  await pause(kit)
  await moveToB(kit)
  const agent = await kit.storage.agents.find('alpha')
  if (!agent) throw new Error('there is no alpha')
  // It knows of no moves, and node-b is forgotten.
  const { site } = kit.parts.workspaces
  const { alpha } = JSON.parse((await kit.storage.meta.get('agent_moves')) ?? '')
  const next = { ...agent, site, generation: agent.generation + 1 }
  await kit.storage.agents.replace(agent, next)
  await kit.storage.meta.set('agent_moves', JSON.stringify({ alpha: { ...alpha, left: [site] } }))
  kit.clock.move(2_000)
  await expect.poll(() => kit.storage.meta.get('agent_moves')).toContain('"left":[]')
  expect(folders(kit)).toEqual(['alpha'])
  await resume(kit)
  expect(await read(kit)).toMatchObject({ kind: 'succeeded', data: { content: 'one' } })
})

test('a request made before a move is decided by what the node of the folder sees now', async () => {
  await using kit = await openKit()
  const { site } = kit.parts.workspaces
  await kit.parts.policy.save({
    text: 'version: 1\nrules:\n  - { match: filesystem.append, tier: approval_required }\n',
  })
  await kit.agent('alpha')
  await write(kit, 'one')
  const asked = await kit.pending('alpha', 'filesystem.append', { path: 'a.txt', content: 'x' })
  const approval = await kit.storage.approvals.find(asked)
  if (!approval) throw new Error(`there is no ${asked}`)
  /** The same, as it was asked for at node-b, where the workspace had another path. */
  const decided = async (id: string) => {
    const places = { path: ['/b/workspaces/alpha/a.txt'] }
    const bound = { ...JSON.parse(approval.bound_json), node: 'node-b', places }
    const bound_json = kit.parts.digest.canonical(bound)
    const digest = `sha256:${kit.parts.digest.sha256(`gatehouse-approval-v1\0${bound_json}`)}`
    await kit.storage.approvals.insert({ ...approval, id, bound_json, digest, call_key: id })
    return refusal(kit.decide(id, 'approve'))
  }
  // node-b has a folder of its own, and would never run the call.
  expect(await decided('appr-moved')).toContain('a path of it leads to another place')
  // It sees the same folder, and still runs: what differs here may be as it was there.
  await putNode(kit, { facts_json: JSON.stringify({ site }) })
  expect(await decided('appr-shared')).toBe('it was done')
})
