import { createKit } from '@gatehouse/testkit'
import { expect, test } from 'vitest'

test('a node with another policy is named once it has had it for two beats, and no longer when it follows', async () => {
  await using kit = await createKit({
    storage: (opened) => ({ ...opened, isShared: true, isNetworked: true }),
  })
  const { storage, clock, app } = kit
  const nowMs = await storage.wallMs()
  const said = (policy_version: string) => ({
    seen_ms: nowMs + 3_600_000,
    facts_json: JSON.stringify({ policy_version, sessions: 1, processes: 0 }),
  })
  const other = { name: 'node-b', place: 'b:/data', version: '0.1.0', address: null } as const
  await storage.nodes.put({ ...other, state: 'active', started_ms: nowMs, ...said('sha256:other') })
  const policyReason = async () =>
    (await app.health(kit.operator())).components.nodes.reason?.split('; ').at(-1) ?? ''
  const named = 'node-b decides by another policy than this node'
  /** Each beat writes when it was. */
  const beat = async () => {
    const before = (await storage.nodes.find(kit.parts.node))?.seen_ms ?? 0
    await expect
      .poll(async () => {
        clock.move(2_000)
        return (await storage.nodes.find(kit.parts.node))?.seen_ms ?? 0
      })
      .toBeGreaterThan(before)
  }
  await beat()
  await expect
    .poll(async () => {
      await beat()
      return policyReason()
    })
    .toBe(named)
  await storage.nodes.beat('node-b', said(kit.parts.policy.current().version))
  await expect
    .poll(async () => {
      await beat()
      return policyReason()
    })
    .not.toBe(named)
  expect(
    (await app.listNodes(kit.operator())).nodes.find(({ name }) => name === 'node-b'),
  ).toMatchObject({ status: 'active', sessions: 1, answering: false })
})

test('what one node found in the audit log the others say, too, and what is no finding they do not', async () => {
  await using kit = await createKit({
    storage: (opened) => ({ ...opened, isShared: true, isNetworked: true }),
  })
  const { storage, clock, app } = kit
  const op = kit.operator()
  const nowMs = await storage.wallMs()
  const said = (log_finding: unknown) => ({
    seen_ms: nowMs + 3_600_000,
    facts_json: JSON.stringify({ sessions: 1, processes: 0, log_finding }),
  })
  const other = { name: 'node-b', place: 'b:/data', version: '0.1.0', address: null } as const
  const finding = { kind: 'truncated', detail: '3 entries are gone' }
  await storage.nodes.put({ ...other, state: 'active', started_ms: nowMs, ...said(finding) })
  const shown = async () => {
    clock.move(2_000)
    const { nodes } = await app.listNodes(op)
    const { reason = '' } = (await app.health(op)).components.nodes
    return [
      /node-b \(.*?TEXT --data-dir [^;\s]+/.exec(reason)?.[0],
      nodes.find(({ name }) => name === 'node-b'),
    ]
  }
  const named = [
    'node-b (b:/data) found: 3 entries are gone; once the cause is known, on node-b, run: gatehouse audit acknowledge --reason TEXT --data-dir /data',
    expect.objectContaining({ log_finding: finding }) as object,
  ]
  await expect.poll(shown).toEqual(named)
  expect((await app.status(op)).health_reasons.join()).toContain(
    'in the audit log (truncated) node-b',
  )
  const silent = [undefined, expect.objectContaining({ log_finding: null }) as object]
  for (const none of [{ kind: 'gone', detail: '' }, { kind: 'missing', detail: 5 }, 'x', null]) {
    await storage.nodes.beat('node-b', said(none))
    await expect.poll(shown).toEqual(silent)
    await storage.nodes.beat('node-b', said(finding))
    await expect.poll(shown).toEqual(named)
  }
  // One that is gone cannot be asked for it any more.
  const gone = { ...said(finding), seen_ms: nowMs - 3_600_000 }
  await storage.nodes.beat('node-b', gone)
  await expect
    .poll(async () => {
      clock.move(2_000)
      return (await app.health(op)).components.nodes.reason
    })
    .toContain('acknowledge it there; if it will not come back, run: gatehouse nodes forget node-b')
  await storage.nodes.setState('node-b', 'stopped')
  await expect.poll(async () => (await shown())[0]).toBeUndefined()

  // This store has no copies, which is what this node finds and says itself.
  expect(await app.verifyAudit(op)).toMatchObject({ integrity: 'failed', kind: 'missing' })
  await expect
    .poll(async () => {
      clock.move(2_000)
      return (await storage.nodes.find(kit.parts.node))?.facts_json
    })
    .toContain('"log_finding":{"kind":"missing"')
})
