import type { LogFinding } from '@gatehouse/contract'
import { createKit } from '@gatehouse/testkit'
import { expect, test } from 'vitest'
import { silent } from '../../log/testing.ts'
import { Presence, type PresenceDeps } from './presence.ts'

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
  const other = { name: 'node-b', place: 'b:/my data', version: '0.1.0', address: null } as const
  const finding = { kind: 'truncated', detail: '3 entries are gone' }
  await storage.nodes.put({ ...other, state: 'active', started_ms: nowMs, ...said(finding) })
  const shown = async () => {
    clock.move(2_000)
    const { nodes } = await app.listNodes(op)
    const { reason = '' } = (await app.health(op)).components.nodes
    return [
      /node-b \(.*?TEXT --data-dir '[^']+'/.exec(reason)?.[0],
      nodes.find(({ name }) => name === 'node-b'),
    ]
  }
  const remedy =
    "once the cause is known, on node-b, run: gatehouse audit acknowledge --reason TEXT --data-dir '/my data'"
  const named = [
    `node-b (b:/my data) found: 3 entries are gone; ${remedy}`,
    expect.objectContaining({ log_finding: { ...finding, remedy } }) as object,
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
  const startAgain =
    'start node-b again and acknowledge it there; if it will not come back, run: gatehouse nodes forget node-b'
  expect((await shown())[1]).toMatchObject({
    status: 'missing',
    log_finding: { remedy: startAgain },
  })
  await storage.nodes.setState('node-b', 'stopped')
  await expect.poll(async () => (await shown())[0]).toBeUndefined()
  expect((await shown())[1]).toMatchObject({
    status: 'stopped',
    log_finding: { remedy: startAgain },
  })

  // This store has no copies, which is what this node finds and says itself.
  expect(await app.verifyAudit(op)).toMatchObject({ integrity: 'failed', kind: 'missing' })
  await expect
    .poll(async () => {
      clock.move(2_000)
      return (await storage.nodes.find(kit.parts.node))?.facts_json
    })
    .toContain('"log_finding":{"kind":"missing"')
  const own = (await app.listNodes(op)).nodes.find(({ answering }) => answering)
  expect(own?.log_finding).toMatchObject({
    kind: 'missing',
    remedy: 'once the cause is known, run: gatehouse audit acknowledge --reason TEXT',
  })
})

test('what another node found in the log of a third is told unless this one has it too, or a person accepted that log since', async () => {
  await using kit = await createKit({
    storage: (opened) => ({ ...opened, isShared: true, isNetworked: true }),
  })
  const { storage, clock } = kit
  const nowMs = await storage.wallMs()
  const foundWith = async (
    log_finding: LogFinding,
    own: Pick<PresenceDeps, 'logFinding' | 'acceptedIn'>,
  ) => {
    await storage.nodes.put({
      ...{ name: 'node-b', place: 'b:/data', version: '0.1.0', address: null, state: 'active' },
      ...{ started_ms: nowMs, seen_ms: nowMs + 3_600_000 },
      facts_json: JSON.stringify({ log_finding }),
    })
    const ending = new AbortController()
    const presence = new Presence({
      ...{ storage, clock, log: silent, node: 'node-a', place: 'a:/data', version: '0.1.0' },
      ...{ digest: kit.parts.digest, policyShare: { key: () => null } },
      ...{ policy: kit.parts.policy, sharedPolicy: { fault: () => null } },
      ...{ sessions: { count: () => 0 }, processesRunning: () => 0 },
      workspaces: { site: null, path: '', mark: () => '', markOf: () => null },
      listeners: { address: null, link: null, draining: false, drain: () => {} },
      signal: ending.signal,
      ...own,
    })
    await presence.start()
    const found = presence.found().map(({ node, kind }) => `${node} ${kind}`)
    ending.abort()
    await presence.stopped()
    return found
  }
  const theirs = { kind: 'modified', detail: 'x', log: 'node-c' } as const
  const told = ['node-b modified']
  const nothing = { logFinding: () => null, acceptedIn: () => null }
  expect(await foundWith(theirs, nothing)).toEqual(told)
  expect(await foundWith(theirs, { ...nothing, logFinding: () => theirs })).toEqual([])
  const ofD = { ...theirs, log: 'node-d' }
  expect(await foundWith(theirs, { ...nothing, logFinding: () => ofD })).toEqual(told)

  const acceptedIn = (log: string) => (log === 'node-c' ? 'aud-2' : null)
  expect(await foundWith(theirs, { ...nothing, acceptedIn })).toEqual([])
  expect(await foundWith(ofD, { ...nothing, acceptedIn })).toEqual(told)
  // It has changed since that was known there.
  const since = { ...theirs, accepted_before: 'aud-2' }
  expect(await foundWith(since, { ...nothing, acceptedIn })).toEqual(told)
  const before = { ...theirs, accepted_before: 'aud-1' }
  expect(await foundWith(before, { ...nothing, acceptedIn })).toEqual([])
  // Of its own files it alone can tell.
  const { log: _log, ...own } = theirs
  expect(await foundWith(own, { ...nothing, acceptedIn, logFinding: () => own })).toEqual(told)
})
