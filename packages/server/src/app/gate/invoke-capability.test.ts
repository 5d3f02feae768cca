import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { AuditEntry, GatehouseError } from '@gatehouse/contract'
import { createKit, type Kit } from '@gatehouse/testkit'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { defineCapability } from '../../capabilities/define.ts'
import type { AuditLog } from '../../ports/audit.ts'
import type { CommitGroup } from '../../ports/audit-rows.ts'

const rules = (text: string, more = ''): string => `version: 1\nrules:\n${text}${more}`
const allow = (name: string) => `  - { match: ${name}, tier: autonomous }\n`

test('a read is one entry, a change an intent and an outcome that names it', async () => {
  await using kit = await createKit()
  await kit.agent('alpha')
  const written = await kit.invoke('alpha', 'filesystem.write', { path: 'a.txt', content: 'hello' })
  expect(written).toMatchObject({ kind: 'succeeded', data: { size_bytes: 5, created: true } })
  const read = await kit.invoke('alpha', 'filesystem.read', { path: 'a.txt' })
  expect(read).toMatchObject({ kind: 'succeeded', text: 'hello', data: { content: 'hello' } })

  expect(await kit.audit({ capability: 'filesystem.read' })).toMatchObject([
    {
      result: 'success',
      policy_decision: 'autonomous',
      agent: 'alpha',
      arguments: { path: 'a.txt' },
    },
  ])
  const [outcome, intent] = await kit.audit({ capability: 'filesystem.write' })
  expect(intent).toMatchObject({ result: 'pending', intent_id: null })
  expect(outcome).toMatchObject({ result: 'success', intent_id: intent?.id })
  expect(intent?.rule?.file).toBe('system.yaml')
})

test('nothing is answered before the log holds it', async () => {
  let release = () => {}
  let held = Promise.resolve()
  let isHeld = false
  let recording = () => {}
  const begun = new Promise<void>((resolve) => {
    recording = resolve
  })
  await using kit = await createKit({
    storage: (opened) => ({
      ...opened,
      record: async (group: CommitGroup) => {
        if (isHeld) recording()
        await held
        await opened.record(group)
      },
    }),
  })
  await kit.agent('alpha')
  held = new Promise((resolve) => {
    release = resolve
  })
  isHeld = true
  let answered = false
  const call = kit.invoke('alpha', 'system.time').then(() => {
    answered = true
  })
  await begun
  await nextTurn()
  expect(answered).toBe(false)
  release()
  await call
  expect(answered).toBe(true)
})

test('when the log cannot be written nothing with an effect runs, and a read is not answered', async () => {
  let full = false
  await using kit = await createKit({
    storage: (opened) => ({
      ...opened,
      record: async (group: CommitGroup) => {
        if (full) throw new Error('no space left on device')
        await opened.record(group)
      },
    }),
  })
  await kit.agent('alpha')
  await kit.invoke('alpha', 'filesystem.write', { path: 'a.txt', content: 'before' })
  full = true
  const write = kit.invoke('alpha', 'filesystem.write', { path: 'a.txt', content: 'after' })
  await expect(write).rejects.toMatchObject({ type: 'AuditUnavailable' })
  await expect(kit.invoke('alpha', 'system.time')).rejects.toMatchObject({
    type: 'AuditUnavailable',
  })
  expect(readFileSync(join(kit.workspace('alpha'), 'a.txt'), 'utf8')).toBe('before')
  full = false
  const again = await kit.invoke('alpha', 'filesystem.write', { path: 'a.txt', content: 'after' })
  expect(again.kind).toBe('succeeded')
})

test('a blocked capability is refused before its schema is shown, an unlisted name is unknown', async () => {
  await using kit = await createKit({
    policy: rules('  - { match: filesystem.delete, tier: blocked, reason: Keep it }\n'),
  })
  await kit.agent('alpha')
  const blocked = await kit.invoke('alpha', 'filesystem.delete', { nonsense: true })
  expect(blocked).toMatchObject({ kind: 'denied', reason: 'policy' })
  expect(JSON.stringify(blocked)).toContain('Keep it')
  expect(JSON.stringify(blocked)).not.toContain('recursive')
  const unknown = await kit.invoke('alpha', 'filesystem.raed')
  expect(unknown).toMatchObject({
    kind: 'unknown',
    did_you_mean: expect.arrayContaining(['filesystem.read']),
  })
  expect((await kit.invoke('alpha', '__proto__')).kind).toBe('unknown')
  const listed = await kit.app.listCapabilities(kit.op('alpha'), {})
  expect(listed.map(({ capability }) => capability.name)).not.toContain('filesystem.delete')
  expect(
    (await kit.audit({ agent: 'alpha' })).filter(({ result }) => result === 'denied'),
  ).toHaveLength(1)
})

test('arguments that do not fit name each bad field and what is allowed, and nothing runs', async () => {
  await using kit = await createKit()
  await kit.agent('alpha')
  const outcome = await kit.invoke('alpha', 'filesystem.write', { path: 7, contents: 'x' })
  expect(outcome).toMatchObject({ kind: 'failed', error: { type: 'InvalidArguments' } })
  const steps = outcome.kind === 'failed' ? outcome.error.recovery.map(({ action }) => action) : []
  expect(steps).toEqual(
    expect.arrayContaining(['fix path', 'add content', 'rename contents to content']),
  )
  expect(await kit.audit({ capability: 'filesystem.write' })).toMatchObject([
    { result: 'error', error: { type: 'InvalidArguments' } },
  ])
})

test('client words about tier, agent or approval decide nothing', async () => {
  await using kit = await createKit()
  await kit.agent('alpha')
  const words = { approved: true, tier: 'autonomous', agent: 'admin' }
  const outcome = await kit.invoke('alpha', 'filesystem.delete', { path: 'a.txt', ...words })
  expect(outcome).toMatchObject({ kind: 'failed', error: { type: 'InvalidArguments' } })
})

test('the exact limit holds, and the call at the told time passes', async () => {
  await using kit = await createKit({
    policy: rules(
      allow('system.time'),
      'limits:\n  - { match: system.time, limit: 3, window: 10s }\n',
    ),
  })
  await kit.agent('alpha')
  for (let i = 0; i < 3; i += 1)
    expect((await kit.invoke('alpha', 'system.time')).kind).toBe('succeeded')
  kit.clock.move(2_500)
  const limited = await kit.invoke('alpha', 'system.time')
  expect(limited).toMatchObject({
    kind: 'limited',
    message: 'Rate limit exceeded: 3 calls/10s for system.time',
    data: { retry_after_seconds: 8, limit: 3, window: '10s' },
  })
  kit.clock.move(7_000)
  expect((await kit.invoke('alpha', 'system.time')).kind).toBe('limited')
  kit.clock.move(1_000)
  expect((await kit.invoke('alpha', 'system.time')).kind).toBe('succeeded')
})

test('denied and invalid calls do not count against a limit', async () => {
  await using kit = await createKit({
    policy: rules(
      allow('system.time'),
      'limits:\n  - { match: system.time, limit: 1, window: 1h }\n',
    ),
  })
  await kit.agent('alpha')
  for (let i = 0; i < 5; i += 1) await kit.invoke('alpha', 'system.time', { bad: 1 })
  expect((await kit.invoke('alpha', 'system.time')).kind).toBe('succeeded')
  expect((await kit.invoke('alpha', 'system.time')).kind).toBe('limited')
})

test('policy sees where a path leads: neither .. nor a link nor another spelling changes the answer', async () => {
  await using kit = await createKit({
    policy: rules(
      '  - { match: filesystem.write, when: args.path.startsWith("scratch/"), tier: autonomous }\n' +
        '  - { match: filesystem.write, tier: blocked }\n',
    ),
  })
  await kit.agent('alpha')
  const workspace = kit.workspace('alpha')
  mkdirSync(join(workspace, 'scratch'), { recursive: true })
  symlinkSync('..', join(workspace, 'scratch', 'up'))
  const write = (path: string) => kit.invoke('alpha', 'filesystem.write', { path, content: 'x' })
  expect((await write('scratch/a')).kind).toBe('succeeded')
  expect((await write(join(workspace, 'scratch/b'))).kind).toBe('succeeded')
  expect((await write('./scratch/c')).kind).toBe('succeeded')
  expect((await write('scratch/../secret')).kind).toBe('denied')
  expect((await write('scratch/up/secret')).kind).toBe('denied')
  expect((await write('secret')).kind).toBe('denied')
})

test('a test in a policy file reads paths as a call does', async () => {
  const text = (expected: string) => `version: 1
rules:
  - { match: filesystem.delete, when: args.path.startsWith("scratch/"), tier: autonomous }
  - { match: filesystem.delete, tier: blocked }
tests:
  - { capability: filesystem.delete, args: { path: ./scratch/a }, expect: autonomous }
  - { capability: filesystem.delete, args: { path: scratch/../secret }, expect: ${expected} }
`
  await using kit = await createKit()
  const save = async (expected: string) =>
    (await kit.app.savePolicy(kit.operator(), { text: text(expected) })).problems.filter(
      ({ severity }) => severity === 'error',
    )
  expect((await save('autonomous'))[0]?.message).toContain(
    'is expected to be autonomous, but is blocked',
  )
  expect(await save('blocked')).toEqual([])
})

test('a condition that names an absolute path sees absolute paths', async () => {
  await using kit = await createKit()
  await kit.agent('alpha')
  const workspace = kit.workspace('alpha')
  mkdirSync(workspace, { recursive: true })
  writeFileSync(join(workspace, 'a'), 'x')
  const text = rules(
    `  - { match: filesystem.read, when: 'args.path.startsWith("${workspace}/")', tier: blocked }\n`,
  )
  await kit.app.savePolicy(kit.operator(), { text })
  expect((await kit.invoke('alpha', 'filesystem.read', { path: 'a' })).kind).toBe('denied')
})

test('an agent is known to have been here once it showed its token', async () => {
  await using kit = await createKit()
  const token = await kit.agent('alpha')
  const lastConnected = async () => (await kit.storage.agents.find('alpha'))?.last_connected_ms
  const first = kit.clock.wall()
  await expect.poll(lastConnected).toBe(first)
  kit.clock.move(30_000)
  await kit.authenticate(token)
  expect(await lastConnected()).toBe(first)
  kit.clock.move(30_000)
  await kit.authenticate(token)
  await expect.poll(lastConnected).toBe(kit.clock.wall())
})

test('a paused agent is refused and can still list; a revoked one is nobody', async () => {
  await using kit = await createKit()
  const token = await kit.agent('alpha')
  await kit.app.pauseAgent(kit.operator(), { name: 'alpha' })
  expect(await kit.invoke('alpha', 'system.time')).toMatchObject({
    kind: 'denied',
    reason: 'agent_paused',
  })
  expect((await kit.app.listCapabilities(kit.op('alpha'), {})).length).toBeGreaterThan(0)
  await kit.app.resumeAgent(kit.operator(), { name: 'alpha' })
  expect((await kit.invoke('alpha', 'system.time')).kind).toBe('succeeded')
  await kit.app.revokeAgent(kit.operator(), { name: 'alpha' })
  expect(await kit.app.authenticateAgent(token)).toBeNull()
  await expect(kit.invoke('alpha', 'system.time')).rejects.toMatchObject({
    type: 'AuthenticationFailed',
  })
})

test.each<[string, (kit: Kit) => Promise<unknown>, string]>([
  ['pause', (kit) => kit.app.pauseAgent(kit.operator(), { name: 'alpha' }), 'AgentPaused'],
  [
    'revocation',
    (kit) => kit.app.revokeAgent(kit.operator(), { name: 'alpha' }),
    'AuthenticationFailed',
  ],
  [
    'rotation',
    (kit) => kit.app.rotateAgent(kit.operator(), { name: 'alpha', overlap_seconds: 0 }),
    'AuthenticationFailed',
  ],
])('a %s while the intent is written stops the call', async (_name, stop, type) => {
  const onIntent: (() => Promise<unknown>)[] = []
  await using kit: Kit = await createKit({
    ports: <T extends object>(name: string, port: T): T => {
      if (name !== 'auditLog') return port
      const { append } = port as T & AuditLog
      const late: AuditLog['append'] = async (draft, extras) => {
        const entry = await append(draft, extras)
        if (draft.result === 'pending') await onIntent.pop()?.()
        return entry
      }
      return Object.assign(Object.create(port) as T, { append: late })
    },
  })
  await kit.agent('alpha')
  const write = (path: string) => kit.invoke('alpha', 'filesystem.write', { path, content: 'x' })
  expect((await write('before.txt')).kind).toBe('succeeded')
  onIntent.push(() => stop(kit))
  await expect(write('after.txt')).rejects.toMatchObject({ type })
  expect(readdirSync(kit.workspace('alpha'))).toEqual(['before.txt'])
  const [outcome, intent] = await kit.audit({ capability: 'filesystem.write' })
  expect(outcome).toMatchObject({ result: 'error', intent_id: intent?.id })
})

const slow = (seconds: number, run: (signal: AbortSignal) => Promise<void>) =>
  defineCapability({
    title: 'Do it',
    name: 'test.slow',
    version: '1.0',
    purpose: 'Take a while.',
    when_to_use: 'In tests.',
    inputs: z.strictObject({ n: z.int().default(0) }),
    outputs: z.object({ done: z.boolean() }),
    result_bytes_max: 1_000,
    tier: 'autonomous',
    effect: 'immediate',
    timeout_seconds: seconds,
    errors: [],
    async run(ctx) {
      await run(ctx.signal)
      return { done: true }
    },
  })

test('a call past its deadline fails by name, its signal aborts, and the outcome is on record', async () => {
  let aborted = false
  let started = () => {}
  const running = new Promise<void>((resolve) => {
    started = resolve
  })
  const capability = slow(5, (signal) => {
    signal.addEventListener('abort', () => (aborted = true))
    started()
    return new Promise(() => undefined)
  })
  await using kit = await createKit({ capabilities: [capability] })
  await kit.agent('alpha')
  const call = kit.invoke('alpha', 'test.slow')
  await running
  kit.clock.move(5_000)
  expect(await call).toMatchObject({ kind: 'failed', error: { type: 'DeadlineExceeded' } })
  expect(aborted).toBe(true)
  expect(await kit.audit({ capability: 'test.slow' })).toMatchObject([
    { result: 'error', error: { type: 'DeadlineExceeded' } },
    { result: 'pending' },
  ])
})

test('an unexpected fault leaves as an internal error without its cause, and is on record', async () => {
  const capability = slow(5, () => Promise.reject(new Error('SELECT secret FROM /srv/hidden')))
  await using kit = await createKit({ capabilities: [capability] })
  await kit.agent('alpha')
  const call = kit.invoke('alpha', 'test.slow')
  await expect(call).rejects.toMatchObject({ type: 'InternalError' })
  await call.catch((error: Error) => expect(error.message).not.toContain('hidden'))
  const [outcome] = await kit.audit({ capability: 'test.slow' })
  expect(outcome).toMatchObject({ result: 'error', error: { type: 'InternalError' } })
  expect(JSON.stringify(outcome)).not.toContain('hidden')
})

test('one agent has 64 calls under way, the next wait in line, and another agent is not in their way', async () => {
  let release = () => {}
  let running = 0
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  const capability = slow(600, async () => {
    running += 1
    await held
  })
  await using kit = await createKit({
    capabilities: [capability],
    policy: rules(
      allow('"test.*"'),
      'limits:\n  - { match: "test.*", limit: 100000, window: 1s }\n',
    ),
  })
  await kit.agent('alpha')
  await kit.agent('beta')
  const calls = Array.from({ length: 80 }, (_, n) => kit.invoke('alpha', 'test.slow', { n }))
  await expect.poll(() => running).toBe(64)
  expect((await kit.invoke('beta', 'system.time')).kind).toBe('succeeded')
  expect(running).toBe(64)
  release()
  const outcomes = await Promise.all(calls)
  expect(outcomes.every(({ kind }) => kind === 'succeeded')).toBe(true)
})

test('every entry says which tier policy applied, or that none was asked', async () => {
  await using kit = await createKit({
    policy: rules(
      `${allow('system.time')}  - { match: state.delete, tier: approval_required }\n  - { match: state.get, tier: blocked }\n`,
    ),
  })
  await kit.agent('alpha')
  await kit.invoke('alpha', 'system.time')
  await kit.invoke('alpha', 'state.delete', { key: 'k' })
  await kit.invoke('alpha', 'state.get', { key: 'k' })
  await kit.invoke('alpha', 'no.such', {})
  await kit.invoke('alpha', 'system.time', { wrong: 1 })

  const entries = await kit.audit()
  const applied = (capability: string, result: string) =>
    entries.find((entry) => entry.capability === capability && entry.result === result)
      ?.policy_decision
  expect(applied('system.time', 'success')).toBe('autonomous')
  expect(applied('state.delete', 'pending')).toBe('approval_required')
  expect(applied('state.get', 'denied')).toBe('blocked')
  expect(applied('no.such', 'error')).toBe('none')
  expect(applied('system.time', 'error')).toBe('none')
  expect(applied('agent.created', 'success')).toBe('none')
  expect(entries.filter((entry) => typeof entry.policy_decision !== 'string')).toEqual([])
  expect(entries.map((entry) => AuditEntry.safeParse(entry).error)).toEqual(
    entries.map(() => undefined),
  )

  const none = { policy_decision: 'none', limit: 100, offset: 0 } as const
  const page = await kit.app.queryAudit(kit.operator(), none)
  expect(page.total).toBe(entries.filter((entry) => entry.policy_decision === 'none').length)
  expect(new Set(page.entries.map((entry) => entry.policy_decision))).toEqual(new Set(['none']))
})

test('a call that waits for nothing has run when its turn is over, and is answered when the log holds it', async () => {
  const made: string[] = []
  const at = (name: string, run: () => { done: boolean } | Promise<{ done: boolean }>) =>
    defineCapability({
      name: `test.${name}`,
      version: '1',
      title: `Do ${name}`,
      purpose: 'Does it.',
      when_to_use: 'In tests.',
      inputs: z.strictObject({}),
      outputs: z.object({ done: z.boolean() }),
      result_bytes_max: 1_000,
      tier: 'autonomous',
      effect: 'none',
      errors: [],
      run,
    })
  const raise = (): never => {
    throw new GatehouseError('FileNotFound', { path: 'gone' })
  }
  const done = (name: string) => () => {
    made.push(name)
    return { done: true }
  }
  await using kit = await createKit({
    capabilities: [
      at('now', done('now')),
      at('later', async () => done('later')()),
      at('raises', raise),
      at('rejects', async () => raise()),
    ],
    policy: rules(allow('"test.*"')),
  })
  await kit.agent('alpha')
  const calls = ['now', 'later', 'raises', 'rejects'].map((name) =>
    kit.invoke('alpha', `test.${name}`),
  )
  await nextTurn()
  expect(made).toEqual(['now', 'later'])
  const outcomes = await Promise.all(calls)
  expect(outcomes).toMatchObject([
    { kind: 'succeeded', data: { done: true } },
    { kind: 'succeeded', data: { done: true } },
    { kind: 'failed', error: { type: 'FileNotFound' } },
    { kind: 'failed', error: { type: 'FileNotFound' } },
  ])
  const entries = await kit.audit({ agent: 'alpha' })
  const results = entries.filter(({ capability }) => capability.startsWith('test.'))
  expect(results.map(({ capability, result }) => `${capability} ${result}`).toSorted()).toEqual([
    'test.later success',
    'test.now success',
    'test.raises error',
    'test.rejects error',
  ])
})

test('a pause that is stored and answered with an error stops its agents all the same', async () => {
  let full = false
  await using kit = await createKit({
    storage: (opened) => ({
      ...opened,
      record: async (group: CommitGroup) => {
        if (full) throw new Error('no space left on device')
        await opened.record(group)
      },
    }),
  })
  for (const name of ['alpha', 'beta']) await kit.agent(name)
  await kit.invoke('alpha', 'system.time')
  await kit.invoke('beta', 'system.time')
  full = true
  const pause = { reason: 'Stop.' }
  await expect(kit.app.pauseAll(kit.operator(), pause)).rejects.toMatchObject({
    type: 'AuditUnavailable',
  })
  full = false
  await kit.invoke('alpha', 'system.time').catch(() => undefined)
  // Nobody is left for it to pause, and it says so as of one that went well.
  await kit.app.pauseAll(kit.operator(), pause)
  for (const name of ['alpha', 'beta'])
    expect(await kit.invoke(name, 'system.time')).toMatchObject({
      kind: 'denied',
      reason: 'agent_paused',
    })
})
