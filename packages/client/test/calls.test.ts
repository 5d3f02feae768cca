import { getEventListeners } from 'node:events'
import { afterAll, beforeAll, describe, expect, expectTypeOf, test } from 'vitest'
import packageJson from '../package.json' with { type: 'json' }
import { errors, type Gatehouse } from '../src/index.ts'
import { AgentKit, transports } from './agent-kit.ts'

let kit: AgentKit
beforeAll(async () => {
  kit = await AgentKit.open()
})
afterAll(() => kit[Symbol.asyncDispose]())

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** What a promise is rejected with. */
const raised = async (work: Promise<unknown>): Promise<unknown> => {
  const outcome = await work.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  )
  if ('error' in outcome) return outcome.error
  throw new Error(`nothing was raised: ${JSON.stringify(outcome.value)}`)
}

describe.each(transports)('over %s', (way) => {
  test('a signal is listened to while a call is under way, and never after it', async () => {
    const { signal } = new AbortController()
    const gate = kit.agent(way)
    const listening = () => getEventListeners(signal, 'abort').length
    const works: readonly (() => Promise<unknown>)[] = [
      () => gate.call('agent.whoami', {}, { signal }),
      () => gate.call('filesystem.read', { path: 'none' }, { signal, timeoutMs: 10_000 }),
      () => gate.request('capabilities.list', {}, { signal }),
      () => gate.wait('appr-1', { signal }),
    ]
    for (const work of works) {
      const working = raised(work()).catch(() => undefined)
      expect(listening()).toBe(1)
      await working
      expect(listening()).toBe(0)
    }
    const several = [...Array(20)].map(() => gate.call('agent.whoami', {}, { signal }))
    expect(listening()).toBe(1)
    await Promise.all(several)
    expect(listening()).toBe(0)
    const events = gate.events({ signal })
    const next = events.next()
    await nextTurn()
    expect(listening()).toBe(1)
    await gate.close()
    await next
    expect(listening()).toBe(0)
  })

  test('a call answers with the data of the capability', async () => {
    kit.write('notes.txt', 'a note\n')
    const gate = kit.agent(way)
    const { content, size_bytes } = await gate.call('filesystem.read', { path: 'notes.txt' })
    expect({ content, size_bytes }).toEqual({ content: 'a note\n', size_bytes: 7 })
    expect(await gate.call('agent.whoami')).toMatchObject({ name: 'alpha' })
  })

  test('a text of many frames comes whole', async () => {
    const text = `${'ä'.repeat(300_000)}\n`
    kit.write('long.txt', text)
    const { content } = await kit.agent(way).call('filesystem.read', { path: 'long.txt' })
    expect(content).toBe(text)
  })

  test('calls that are made at once get their own answers', async () => {
    const gate = kit.agent(way)
    for (let i = 0; i < 20; i += 1) kit.write(`${i}.txt`, `${i}`)
    const names = [...Array(20).keys()].map((i) => `${i}.txt`)
    const read = await Promise.all(names.map((path) => gate.call('filesystem.read', { path })))
    expect(read.map(({ content }) => content)).toEqual(names.map((name) => name.slice(0, -4)))
  })

  test('each error is of the class of its type', async () => {
    const gate = kit.agent(way, { maxRetries: 0 })
    const missing = await raised(gate.call('filesystem.read', { path: 'none' }))
    expect(missing).toBeInstanceOf(errors.FileNotFound)
    expect(missing).toMatchObject({ type: 'FileNotFound', code: null })
    expect((missing as errors.FileNotFound).recovery[0]?.description).toMatch(/List the folder/)
    // @ts-expect-error a name that the capability does not have
    const wrong = await raised(gate.call('filesystem.read', { paht: 'x' }))
    expect(wrong).toBeInstanceOf(errors.InvalidArguments)
    const blocked = await raised(gate.call('filesystem.mkdir', { path: 'x' }))
    expect(blocked).toBeInstanceOf(errors.PolicyDenied)
    expect(blocked).toMatchObject({ code: -32001, message: expect.stringContaining('by people') })
    const unknown = await raised(gate.call('filesystem.raed'))
    expect(unknown).toBeInstanceOf(errors.UnknownCapability)
    expect((unknown as errors.UnknownCapability).didYouMean[0]).toMatch(/^filesystem(\.|__)read$/)
    expect(missing).toBeInstanceOf(errors.GatehouseError)
  })

  test('a limit says when the next call succeeds, and one that is near is waited for', async () => {
    const gate = kit.agent(way, { maxRetries: 0 })
    const refused = async () => {
      for (;;) {
        const time = gate.call('system.time')
        const error = await time.then(
          () => null,
          (thrown: unknown) => thrown,
        )
        if (error) return error
      }
    }
    const error = await refused()
    expect(error).toBeInstanceOf(errors.RateLimited)
    const { retryAfterSeconds } = error as errors.RateLimited
    expect(retryAfterSeconds).toBe(60)
    kit.kit.clock.move(59_500)
    expect(await raised(gate.call('system.time'))).toMatchObject({ retryAfterSeconds: 1 })
    const refusals = async () => (await kit.kit.audit({ capability: 'system.time' })).length
    const before = await refusals()
    const later = kit.agent(way).call('system.time')
    while ((await refusals()) === before) await nextTurn()
    kit.kit.clock.move(1_000)
    expect(await later).toHaveProperty('unix_ms')
    kit.kit.clock.move(60_000)
  })

  test('a paused agent is told so', async () => {
    const gate = kit.agent(way)
    await kit.kit.app.pauseAgent(kit.kit.operator(), { name: 'alpha' })
    const error = await raised(gate.call('filesystem.list', { path: '.' }))
    await kit.kit.app.resumeAgent(kit.kit.operator(), { name: 'alpha' })
    expect(error).toBeInstanceOf(errors.AgentPaused)
  })

  test('a wrong token is refused', async () => {
    const gate = kit.agent(way, { token: '0'.repeat(64) })
    const error = await raised(gate.call('agent.whoami'))
    expect(error).toBeInstanceOf(errors.AuthenticationFailed)
    expect(error).toMatchObject({ code: -32003 })
  })

  test('the program that calls is shown with its session', async () => {
    const client = { name: `mailbot-${way}`, version: '7' }
    await using gate = kit.agent(way, { client })
    const { session } = await gate.call('agent.session')
    expect(session).toMatchObject({ agent: 'alpha', client })
    const again = await gate.call('agent.session')
    expect(again.session?.session_id).toBe(session?.session_id)
    await gate.close()
    await expect(gate.call('agent.whoami')).rejects.toThrow('The client was closed.')
  })

  test('a call that was aborted is given up', async () => {
    const gate = kit.agent(way)
    const reason = new Error('not needed any more')
    expect(await raised(gate.call('agent.whoami', {}, { signal: AbortSignal.abort(reason) }))).toBe(
      reason,
    )
  })
})

test('a program that gives no name has that of the package', async () => {
  const { session } = await kit.agent('http').call('agent.session')
  expect(session?.client).toEqual({ name: packageJson.name, version: packageJson.version })
})

test('lists what the agent may use, and answers any method of the reference', async () => {
  const gate = kit.agent('http')
  const listed = await gate.capabilities('filesystem')
  const tiers = Object.fromEntries(listed.map((one) => [one.name, one.permission_tier]))
  expect(tiers['filesystem.append']).toBe('autonomous')
  expect(tiers['filesystem.write']).toBe('approval_required')
  expect(tiers).not.toHaveProperty('filesystem.mkdir')
  expect(await gate.request('rpc.discover')).toHaveProperty('openrpc')
})

test('the name of a capability decides what it takes and answers', () => {
  type Gate = Pick<Gatehouse, 'call'>
  const types = (gate: Gate) => ({
    read: () => gate.call('filesystem.read', { path: 'x' }),
    encoding: () => gate.call('filesystem.read', { path: 'x', encoding: 'base64' }),
    // @ts-expect-error nothing is read without a path
    without: () => gate.call('filesystem.read'),
    // @ts-expect-error no such encoding
    odd: () => gate.call('filesystem.read', { path: 'x', encoding: 'rot13' }),
    none: () => gate.call('agent.whoami'),
    other: () => gate.call('tickets.create', { title: 'x' }),
    later: (name: string) => gate.call(name, { any: 'thing' }),
  })
  type Types = ReturnType<typeof types>
  type Read = Awaited<ReturnType<Types['read']>>
  expectTypeOf<Read['content']>().toEqualTypeOf<string>()
  expectTypeOf<Read['next_offset']>().toEqualTypeOf<number | null>()
  expectTypeOf<Awaited<ReturnType<Types['other']>>>().toEqualTypeOf<unknown>()
  expectTypeOf<Awaited<ReturnType<Types['later']>>>().toEqualTypeOf<unknown>()
  expect(types).toBeTypeOf('function')
})

test('options that are wrong are named', () => {
  expect(() => kit.agent('http', { url: 'localhost:7700' })).toThrow(/^url: .*http:\/\//)
  expect(() => kit.agent('carrier pigeon' as 'http')).toThrow(/^transport: "carrier pigeon"/)
})
