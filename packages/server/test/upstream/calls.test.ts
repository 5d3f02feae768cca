import { readFileSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { hasProgram } from '@gatehouse/testkit/programs'
import { describe, expect, test } from 'vitest'
import { survivors } from '../../../../test/support/survivors.ts'
import { tool, UpstreamKit } from './upstream-kit.ts'

const names = ['say', 'environment', 'read', 'fail', 'picture', 'sound', 'die', 'pid', 'stuck']
const tools = names.map((name) => tool(name))

const opened = async (script: object = {}, order = {}) => {
  const kit = await UpstreamKit.open()
  kit.says({ tools, ...script })
  await kit.add(order)
  await kit.accept()
  await kit.allow()
  return kit
}

const textOf = (outcome: unknown): string => (outcome as { text: string }).text
const alive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

describe.skipIf(!hasProgram('bwrap'))('calls of upstream tools', () => {
  test('pass results through, marked as from outside, and failures in the server’s words', async () => {
    await using kit = await opened()
    expect(await kit.kit.invoke('alpha', 'scripted.picture')).toMatchObject({
      kind: 'succeeded',
      data: {
        content: [{ type: 'image', data: 'aGk=', mimeType: 'image/png' }],
        structuredContent: { width: 1 },
        _meta: { kept: true, 'gatehouse/upstream': 'scripted' },
      },
    })
    expect(await kit.kit.invoke('alpha', 'scripted.fail')).toMatchObject({
      kind: 'failed',
      error: { type: 'UpstreamToolFailed', message: 'it went wrong' },
    })
    const [entry] = await kit.kit.audit({ capability: 'scripted.fail' })
    expect(entry).toMatchObject({ result: 'error', detail: { upstream: { server: 'scripted' } } })
  })

  test('pass audio and resources through, and name them where only text is shown', async () => {
    await using kit = await opened()
    expect(await kit.kit.invoke('alpha', 'scripted.sound')).toMatchObject({
      data: {
        content: [
          { type: 'audio', data: 'UklGRg==', mimeType: 'audio/wav' },
          { type: 'resource', resource: { uri: 'notes://1', text: 'one' } },
          { type: 'resource_link', uri: 'notes://2', name: 'two' },
        ],
      },
      text: '[audio]\n[resource]\n[resource_link]',
    })
  })

  test('that begin at once reach the server whole, and each gets its own answer', async () => {
    await using kit = await opened()
    const texts = Array.from({ length: 20 }, (_, i) => `${i} ${'ü'.repeat(2_000 * i)}`)
    const outcomes = await Promise.all(
      texts.map((text) => kit.kit.invoke('alpha', 'scripted.say', { text })),
    )
    expect(outcomes.map(textOf)).toEqual(texts)
  })

  test('are found by a search, and the same when they are called by name', async () => {
    await using kit = await opened()
    const args = { text: 'x' }
    expect(await kit.kit.invoke('alpha', 'tools.search', { query: 'picture' })).toMatchObject({
      data: { tools: [{ name: 'scripted.picture' }], total: 1 },
    })
    const named = { name: 'scripted__picture', arguments: args }
    const direct = await kit.kit.invoke('alpha', 'scripted.picture', args)
    expect(await kit.kit.invoke('alpha', 'tools.call', named)).toEqual(direct)
    expect(await kit.kit.audit({ capability: 'tools.call' })).toEqual([])
    await kit.kit.app.editAgent(kit.kit.operator(), {
      ...{ name: 'alpha', changes: { tools: ['scripted.s*'] }, versions: null },
    })
    expect(await kit.kit.invoke('alpha', 'tools.call', named)).toMatchObject({
      kind: 'denied',
      reason: 'tool_set',
    })
  })

  test('tell how far they are, and are cancelled at the server', async () => {
    await using kit = await opened({ misbehave: { stuck: 'silent' } })
    const told: unknown[] = []
    await kit.kit.invoke(
      'alpha',
      'scripted.say',
      { text: 'x' },
      { progress: (...all) => told.push(all) },
    )
    expect(told).toEqual([[1, 2, 'half']])
    const gone = new AbortController()
    const call = kit.kit.invoke('alpha', 'scripted.stuck', {}, { signal: gone.signal })
    await expect.poll(() => kit.notedLines().filter((line) => line === 'tools/call').length).toBe(2)
    gone.abort()
    expect(await call).toMatchObject({ kind: 'failed', error: { type: 'Cancelled' } })
    await expect.poll(() => kit.notedLines()).toContain('notifications/cancelled')
  })

  test('reach what was granted, and nothing else', async () => {
    await using kit = await opened(
      {},
      {
        credentials: { TOKEN: { value: 'a-long-secret' } },
        per_agent: false,
      },
    )
    const told = textOf(await kit.kit.invoke('alpha', 'scripted.environment'))
    const seen = JSON.parse(told) as Record<string, string>
    const proxies = ['HTTPS_PROXY', 'HTTP_PROXY', 'http_proxy', 'https_proxy']
    const variables = ['HOME', 'LANG', 'PATH', 'TMPDIR', 'TOKEN', ...proxies]
    expect(
      Object.keys(seen)
        .filter((name) => name !== 'PWD')
        .toSorted(),
    ).toEqual(variables.toSorted())
    // What comes back from where a secret went is without it.
    expect(seen['TOKEN']).toBe('[secret:service:upstream.scripted.TOKEN]')
    const script = readFileSync(kit.script, 'utf8')
    expect(textOf(await kit.kit.invoke('alpha', 'scripted.read', { path: kit.script }))).toBe(
      script,
    )
    for (const path of [join(kit.kit.folder, 'vault.key'), '/etc/shadow', '/home']) {
      await kit.kit.invoke('alpha', 'scripted.read', { path })
      expect(await kit.kit.invoke('alpha', 'scripted.read', { path })).toMatchObject({
        kind: 'failed',
      })
      await kit.kit.app.restartUpstream(kit.kit.operator(), { name: 'scripted' })
    }
    // An agent that may write where a granted folder lies puts a link in its place.
    const given = join(kit.folder, 'given')
    const mounts = [{ path: kit.folder, read_only: false }]
    await kit.kit.app.editAgent(kit.kit.operator(), {
      ...{ name: 'alpha', versions: null },
      changes: { mounts },
    })
    rmSync(given, { recursive: true })
    symlinkSync(join(kit.kit.folder, 'policies'), given)
    const path = join(given, 'organisation.yaml')
    expect(await kit.kit.invoke('alpha', 'scripted.read', { path })).toMatchObject({
      kind: 'failed',
      error: { type: 'UpstreamFailed', message: expect.stringContaining(`${given}: `) as string },
    })
  })

  test('one process an agent, kept while it is used, ended with the agent and with the service', async () => {
    let pids: number[] = []
    {
      await using kit = await opened()
      await kit.kit.agent('beta')
      const startsAfter = async (agent: string) => {
        expect(await kit.kit.invoke(agent, 'scripted.pid')).toMatchObject({ kind: 'succeeded' })
        return kit.notedLines().filter((line) => line.startsWith('start')).length
      }
      const first = await startsAfter('alpha')
      expect(await startsAfter('alpha')).toBe(first)
      expect(await startsAfter('beta')).toBe(first + 1)
      expect((await kit.show()).upstream.connections).toBe(2)
      await kit.kit.app.revokeAgent(kit.kit.operator(), { name: 'beta' })
      await expect.poll(async () => (await kit.show()).upstream.connections).toBe(1)
      pids = childrenOf(process.pid)
      expect(pids.length).toBeGreaterThan(0)
    }
    await expect.poll(() => pids.filter(alive)).toEqual([])
  })

  test('a connection that nobody uses is ended, and made again by the next call', async () => {
    await using kit = await opened()
    await kit.kit.invoke('alpha', 'scripted.say', { text: 'hi' })
    expect((await kit.show()).upstream.connections).toBe(1)
    kit.kit.clock.move(10 * 60_000)
    await expect.poll(async () => (await kit.show()).upstream.connections).toBe(0)
    const again = await kit.kit.invoke('alpha', 'scripted.say', { text: 'hi' })
    expect(again).toMatchObject({ kind: 'succeeded' })
  })

  test('a server that dies is started again after a pause that grows, and the agent is told why', async () => {
    await using kit = await opened({ says: 'no licence\n' })
    const died = await kit.kit.invoke('alpha', 'scripted.die')
    expect(died).toMatchObject({ kind: 'failed', error: { type: 'UpstreamFailed' } })
    expect(died).toMatchObject({ error: { message: expect.stringContaining('no licence') } })
    const soon = await kit.kit.invoke('alpha', 'scripted.say', { text: 'hi' })
    expect(soon).toMatchObject({ error: { message: expect.stringMatching(/tried again in 1 s/) } })
    expect((await kit.show()).upstream).toMatchObject({ status: 'failing' })
    const health = await kit.kit.app.health(kit.kit.operator())
    expect(health.reasons.join()).toContain('scripted')
    const metrics = await kit.kit.app.renderMetrics(kit.kit.operator())
    expect(metrics).toContain('gatehouse_upstreams{upstream="scripted"} 0\n')
    kit.kit.clock.move(1_000)
    expect(await kit.kit.invoke('alpha', 'scripted.say', { text: 'hi' })).toMatchObject({
      text: 'hi',
    })
    expect((await kit.show()).upstream).toMatchObject({ status: 'ready' })
  })

  const crashes = process.env['GATEHOUSE_FULL'] === '1' ? 200 : 15

  test(`${crashes} crashes in a row leave nothing behind`, async () => {
    await using kit = await opened({}, { per_agent: false })
    const told: string[] = []
    for (let i = 0; i < crashes; i += 1) {
      const [died, other] = await Promise.all([
        kit.kit.invoke('alpha', 'scripted.die'),
        kit.kit.invoke('alpha', 'scripted.say', { text: `${i}` }),
      ])
      expect(died).toMatchObject({ kind: 'failed', error: { type: 'UpstreamFailed' } })
      // The call beside it had its answer or a failure: never somebody else's.
      told.push(other.kind === 'succeeded' ? (other.text ?? '') : `${i}`)
      kit.kit.clock.move(60_000)
    }
    expect(told).toEqual(Array.from({ length: crashes }, (_, i) => `${i}`))
    expect((await kit.show()).upstream.connections).toBe(0)
    await expect.poll(() => survivors(kit.script)).toEqual([])
    expect(await kit.kit.invoke('alpha', 'scripted.say', { text: 'on' })).toMatchObject({
      text: 'on',
    })
  })

  test.each(['flood', 'nonsense', 'wrong_id', 'endless_line', 'silent'])(
    'a server that answers with %s harms no other call',
    async (kind) => {
      await using kit = await opened({ misbehave: { stuck: kind } })
      await kit.kit.agent('beta')
      const gone = new AbortController()
      const bad = kit.kit.invoke('alpha', 'scripted.stuck', {}, { signal: gone.signal })
      const others = await Promise.all(
        Array.from({ length: 20 }, (_, i) =>
          kit.kit.invoke('beta', 'scripted.say', { text: `${i}` }),
        ),
      )
      expect(others.map(textOf)).toEqual(Array.from({ length: 20 }, (_, i) => `${i}`))
      gone.abort()
      expect(await bad).toMatchObject({ kind: 'failed' })
    },
  )
})

const childrenOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
    .trim()
    .split(' ')
    .filter(Boolean)
    .map(Number)
