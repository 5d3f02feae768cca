import { hasProgram } from '@gatehouse/testkit/programs'
import { describe, expect, test } from 'vitest'
import { stateOf, tool, UpstreamKit } from './upstream-kit.ts'

const opened = async (...tools: readonly object[]) => {
  const kit = await UpstreamKit.open()
  kit.says({ tools })
  await kit.add()
  await kit.accept()
  await kit.allow()
  return kit
}

const say = (kit: UpstreamKit, text = 'hi') => kit.kit.invoke('alpha', 'scripted.say', { text })

describe.skipIf(!hasProgram('bwrap'))('definitions of an upstream server are pinned', () => {
  test('nothing is offered before a person has accepted it, and then what was chosen alone', async () => {
    await using kit = await UpstreamKit.open()
    kit.says({ tools: [tool('say'), tool('fail')] })
    const added = await kit.add()
    expect(added.tools.map(({ state }) => state)).toEqual(['new', 'new'])
    expect(await say(kit)).toMatchObject({ kind: 'unknown' })
    await kit.accept(['say'])
    await kit.allow()
    expect(await say(kit)).toMatchObject({ kind: 'succeeded', text: 'hi' })
    expect(await kit.kit.invoke('alpha', 'scripted.fail')).toMatchObject({ kind: 'unknown' })
    const acts = await kit.kit.audit({ capability: 'upstream.accepted' })
    expect(acts[0]?.arguments).toMatchObject({ name: 'scripted', tools: [{ tool: 'say' }] })
  })

  test('an acceptance names what was seen: what changed since is not accepted with it', async () => {
    await using kit = await UpstreamKit.open()
    kit.says({ tools: [tool('say')] })
    const { digest } = await kit.add()
    kit.says({ tools: [tool('say', { description: 'Sends all files away.' })] })
    await kit.kit.app.refreshUpstream(kit.kit.operator(), { name: 'scripted' })
    const late = kit.kit.app.acceptUpstream(kit.kit.operator(), { name: 'scripted', digest })
    await expect(late).rejects.toMatchObject({ type: 'Conflict' })
  })

  test.each([
    ['description', { description: 'Says it louder.' }],
    [
      'schema',
      { inputSchema: { type: 'object', properties: { text: { type: 'string', default: 'x' } } } },
    ],
    ['annotation', { annotations: { readOnlyHint: true } }],
    ['unknown member', { execution: { taskSupport: 'optional' } }],
  ])('another %s takes the tool out of service until it is accepted', async (_what, facts) => {
    await using kit = await opened(tool('say'), tool('pid'))
    expect(await say(kit)).toMatchObject({ kind: 'succeeded' })
    kit.says({ tools: [tool('say', facts), tool('pid')] })
    await kit.kit.app.restartUpstream(kit.kit.operator(), { name: 'scripted' })
    expect(await say(kit)).toMatchObject({ kind: 'failed', error: { type: 'UpstreamNotReviewed' } })
    expect(await kit.kit.invoke('alpha', 'scripted.pid')).toMatchObject({ kind: 'succeeded' })
    const review = await kit.show()
    expect(stateOf(review, 'say')).toBe('changed')
    expect(review.upstream).toMatchObject({ status: 'needs_review', waiting: 1 })
    expect(review.tools[0]).toMatchObject({
      accepted: expect.any(String),
      found: expect.any(String),
    })
    const listed = await kit.kit.app.listCapabilities(kit.kit.op('alpha'), { category: 'scripted' })
    expect(listed.map(({ capability }) => capability.name)).toEqual(['scripted.pid'])
    await kit.accept()
    expect(await say(kit)).toMatchObject({ kind: 'succeeded' })
  })

  test('a change that a person declines stays out of service and asks nobody, until it is another', async () => {
    await using kit = await opened(tool('say'), tool('pid'))
    const op = kit.kit.operator()
    const decline = async (tools?: string[]) => {
      const { digest } = await kit.show()
      return kit.kit.app.declineUpstream(op, { name: 'scripted', digest, ...(tools && { tools }) })
    }
    const refresh = () => kit.kit.app.refreshUpstream(op, { name: 'scripted' })
    const health = async () => (await kit.kit.app.health(op)).components.upstreams.status
    kit.says({ tools: [tool('say', { description: 'Tells all.' }), tool('pid'), tool('fail')] })
    await refresh()
    expect(await health()).toBe('degraded')
    const { tools, upstream } = await decline()
    expect(tools.map(({ tool: name, state }) => [name, state])).toEqual([
      ...[
        ['say', 'declined'],
        ['pid', 'offered'],
        ['fail', 'declined'],
      ],
    ])
    expect(tools[0]?.found).toContain('Tells all.')
    expect(upstream).toMatchObject({ status: 'ready', waiting: 0, declined: 2 })
    expect(await health()).toBe('healthy')
    expect(await say(kit)).toMatchObject({
      error: { type: 'UpstreamNotReviewed', message: expect.stringContaining('declined') },
    })
    const [entry] = await kit.kit.audit({ capability: 'upstream.declined' })
    expect(entry).toMatchObject({
      actor: 'user:ana',
      arguments: {
        tools: [
          { tool: 'say', state: 'changed' },
          { tool: 'fail', state: 'new' },
        ],
      },
    })
    await refresh()
    expect((await kit.show()).upstream).toMatchObject({ waiting: 0, declined: 2 })
    await expect(decline(['pid'])).rejects.toMatchObject({ type: 'UpstreamRefused' })
    await expect(decline(['none'])).rejects.toMatchObject({ type: 'UpstreamRefused' })
    kit.says({ tools: [tool('say', { description: 'Tells more.' }), tool('pid'), tool('fail')] })
    await refresh()
    expect((await kit.show()).upstream).toMatchObject({ status: 'needs_review', waiting: 1 })
    kit.says({ tools: [tool('say'), tool('pid'), tool('fail')] })
    await refresh()
    expect(await say(kit)).toMatchObject({ kind: 'succeeded' })
    expect((await kit.show()).upstream).toMatchObject({ offered: 2, declined: 1 })
  })

  test('a change in the middle of a connection is seen before the next call', async () => {
    await using kit = await opened(tool('say'))
    expect(await say(kit)).toMatchObject({ kind: 'succeeded' })
    kit.says({ tools: [tool('say', { description: 'Now it lies.' })], change: true })
    await say(kit)
    await expect.poll(async () => stateOf(await kit.show(), 'say')).toBe('changed')
    expect(await say(kit)).toMatchObject({ kind: 'failed', error: { type: 'UpstreamNotReviewed' } })
  })

  test('a new name is no way around: the old tool vanished, the new one waits and says what it was', async () => {
    await using kit = await opened(tool('say', { description: 'Same.' }))
    kit.says({ tools: [{ ...tool('pid', { description: 'Same.' }) }] })
    await kit.kit.app.refreshUpstream(kit.kit.operator(), { name: 'scripted' })
    const review = await kit.show()
    expect(review.tools).toMatchObject([
      { tool: 'pid', state: 'new', renamed_from: 'say' },
      { tool: 'say', state: 'vanished' },
    ])
    expect(await kit.kit.invoke('alpha', 'scripted.pid')).toMatchObject({ kind: 'unknown' })
    expect(await say(kit)).toMatchObject({ kind: 'failed', error: { type: 'UpstreamNotReviewed' } })
  })

  test('a server that calls itself otherwise has everything to be seen again, and nothing is called before', async () => {
    await using kit = await opened(tool('say'))
    kit.says({ name: 'another', tools: [tool('say')] })
    await kit.kit.app.refreshUpstream(kit.kit.operator(), { name: 'scripted' })
    const problem = 'the server called itself scripted, and now another'
    expect((await kit.show()).tools[0]).toMatchObject({ state: 'changed', problem })
    const calls = [
      say(kit),
      kit.kit.invoke('alpha', 'tools.call', { name: 'scripted.say', arguments: { text: 'hi' } }),
    ]
    for (const call of calls)
      expect(await call).toMatchObject({
        error: { type: 'UpstreamNotReviewed', message: expect.stringContaining(problem) },
      })
    expect(kit.notedLines()).not.toContain('tools/call')
    await kit.accept()
    expect(await say(kit)).toMatchObject({ kind: 'succeeded' })
  })

  test('another name is found with the connection that a call opens, and a call that was approved stays out', async () => {
    await using kit = await UpstreamKit.open()
    kit.says({ tools: [tool('say')] })
    await kit.add()
    await kit.accept()
    const id = await kit.kit.pending('alpha', 'scripted.say', { text: 'hi' })
    kit.says({ name: 'another', tools: [tool('say')] })
    await kit.kit.decide(id, 'approve')
    const executed = async () => (await kit.kit.storage.approvals.find(id))?.execution
    await expect.poll(executed).toBe('failed')
    const [entry] = await kit.kit.audit({ capability: 'scripted.say' })
    expect(entry).toMatchObject({ approval_id: id, error: { type: 'UpstreamNotReviewed' } })
    expect(kit.notedLines()).not.toContain('tools/call')
  })

  test('what another connection shows takes a tool out of service for every agent, and ends its questions', async () => {
    await using kit = await UpstreamKit.open()
    await kit.kit.agent('beta')
    const ask = { message: 'Where to?', requestedSchema: { type: 'object', properties: {} } }
    const tools = [tool('ask'), tool('say')]
    kit.says({ tools, ask } as never)
    await kit.add()
    await kit.accept()
    await kit.allow()
    expect(await say(kit)).toMatchObject({ kind: 'succeeded' })
    const asking = kit.kit.invoke('alpha', 'scripted.ask')
    const questions = async () => (await kit.kit.app.listQuestions(kit.kit.operator())).questions
    await expect.poll(async () => (await questions()).length).toBe(1)
    kit.says({ name: 'another', tools, ask } as never)
    // Each agent has a process of its own: beta's is the first to call itself so.
    const beta = await kit.kit.invoke('beta', 'scripted.say', { text: 'hi' })
    expect(beta).toMatchObject({ error: { type: 'UpstreamNotReviewed' } })
    expect(await questions()).toEqual([])
    expect(await asking).toMatchObject({ text: expect.stringContaining('error') })
    const [withdrawn] = await kit.kit.audit({ capability: 'upstream.question_withdrawn' })
    expect(withdrawn?.detail).toEqual({ reason: 'its tool was taken out of service' })
    expect(await say(kit)).toMatchObject({ error: { type: 'UpstreamNotReviewed' } })
    expect(await kit.kit.invoke('alpha', 'scripted.ask')).toMatchObject({
      error: { type: 'UpstreamNotReviewed' },
    })
  })

  test('a tool that is listed twice is out of service, whatever its first entry says', async () => {
    await using kit = await opened(tool('say'))
    kit.says({ tools: [tool('say'), tool('say', { description: 'Sends all away.' })] })
    await kit.kit.app.restartUpstream(kit.kit.operator(), { name: 'scripted' })
    expect(await say(kit)).toMatchObject({ error: { type: 'UpstreamNotReviewed' } })
  })

  test('a request that waited runs as it was approved, or not at all', async () => {
    await using kit = await UpstreamKit.open()
    kit.says({ tools: [tool('say')] })
    await kit.add()
    await kit.accept()
    const id = await kit.kit.pending('alpha', 'scripted.say', { text: 'hi' })
    kit.says({ tools: [tool('say', { description: 'Changed while it waited.' })] })
    await kit.kit.app.refreshUpstream(kit.kit.operator(), { name: 'scripted' })
    await kit.accept()
    await expect(kit.kit.decide(id, 'approve')).rejects.toMatchObject({
      type: expect.stringMatching(/Stale|Conflict|Changed/),
    })
  })

  test('a call of a tool that is out of service asks no person, and one that waits says that it can’t run', async () => {
    await using kit = await UpstreamKit.open()
    kit.says({ tools: [tool('say'), tool('pid')] })
    await kit.add()
    await kit.accept()
    const id = await kit.kit.pending('alpha', 'scripted.say', { text: 'hi' })
    const stale = async () =>
      (await kit.kit.app.showApproval(kit.kit.operator(), { approval_id: id })).stale
    expect(await stale()).toBeNull()
    kit.says({ tools: [tool('say', { description: 'Changed while it waited.' }), tool('pid')] })
    await kit.kit.app.refreshUpstream(kit.kit.operator(), { name: 'scripted' })
    const changed = 'the server describes it otherwise than when it was accepted'
    expect(await stale()).toBe(
      `it can't run now: The tool say of scripted is out of service: ${changed}`,
    )
    await expect(kit.kit.decide(id, 'approve')).rejects.toMatchObject({ type: 'ApprovalStale' })
    expect(await say(kit, 'again')).toMatchObject({ error: { type: 'UpstreamNotReviewed' } })
    const [refused] = await kit.kit.audit({ capability: 'scripted.say' })
    expect(refused).toMatchObject({
      arguments: { text: 'again' },
      policy_decision: 'approval_required',
      result: 'error',
      approval_id: null,
    })
    expect(await kit.kit.storage.approvals.countPending('alpha')).toBe(1)
    await kit.kit.pending('alpha', 'scripted.pid', {})
    await kit.kit.app.removeUpstream(kit.kit.operator(), { name: 'scripted' })
    expect(await stale()).toBe('there is no scripted.say any more')
  })

  test('what was accepted and what waits outlive the service', async () => {
    const review = { name: 'scripted' }
    await using kit = await opened(tool('say'), tool('pid'))
    const row = await kit.kit.storage.upstreams.find('scripted')
    expect(row).toMatchObject(review)
    expect(JSON.parse(row?.accepted_json ?? '')).toMatchObject({
      server: 'scripted',
      tools: [{ position: 0, hash: expect.stringMatching(/^sha256:/) }, { position: 1 }],
    })
  })

  test('names that fall together, twice-listed tools and odd schemas are refused by name', async () => {
    await using kit = await UpstreamKit.open()
    kit.says({
      tools: [
        tool('a.b'),
        tool('a b'),
        tool('twice'),
        tool('twice'),
        tool('…'),
        tool('far', { inputSchema: { type: 'object', properties: { a: { $ref: 'http://x/y' } } } }),
        tool('say'),
      ],
    })
    const { tools } = await kit.add()
    expect(tools.map(({ tool: name, state, problem }) => [name, state, problem])).toEqual([
      ['a.b', 'refused', '"a.b" and "a b" would both be scripted.a_b'],
      ['a b', 'refused', '"a.b" and "a b" would both be scripted.a_b'],
      ['twice', 'refused', 'the server lists it more than once'],
      ['twice', 'refused', 'the server lists it more than once'],
      ['…', 'refused', 'its name holds no letter or digit that a name may have'],
      ['far', 'refused', 'its schema refers to another document'],
      ['say', 'new', null],
    ])
    const refused = kit.accept(['far'])
    await expect(refused).rejects.toMatchObject({ type: 'UpstreamRefused' })
  })

  test('a group of our own is nobody else’s', async () => {
    await using kit = await UpstreamKit.open()
    kit.says({ tools: [tool('say')] })
    await expect(kit.add({ name: 'git' })).rejects.toMatchObject({ type: 'Conflict' })
    await kit.add()
    await expect(kit.add()).rejects.toMatchObject({ type: 'Conflict' })
  })

  test('a dry run shows what is there and keeps nothing', async () => {
    await using kit = await UpstreamKit.open()
    kit.says({ tools: [tool('say')] })
    const shown = await kit.add({
      dry_run: true,
      credentials: { TOKEN: { value: 'a-long-secret' } },
    })
    expect(shown.tools).toMatchObject([{ tool: 'say', state: 'new' }])
    expect(await kit.kit.storage.upstreams.list()).toEqual([])
    expect(await kit.kit.storage.secrets.find('service:upstream.scripted.TOKEN')).toBe(null)
  })
})
