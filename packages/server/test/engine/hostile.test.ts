import { failureIn, scriptModel } from '@gatehouse/testkit'
import { hasEngine } from '@gatehouse/testkit/programs'
import { describe, expect, test } from 'vitest'
import type { Engine } from '../../src/ports/engine.ts'
import { type EngineKit, openEngineKit } from './kit.ts'

const template = (value: string) =>
  ({
    change: { 'tokenizer.chat_template': { key: 'tokenizer.chat_template', type: 'text', value } },
  }) as const
const plain = "{% for m in messages %}{{ m['role'] + ': ' + m['content'] }}{% endfor %}assistant:"
const endless = '{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}'

const chat = (content: string, model: string) => ({
  model,
  messages: [{ role: 'user', content }],
})

/** The service answers somebody else while the model has its call. */
const expectAnswer = async ({ kit }: EngineKit): Promise<void> => {
  expect((await kit.invoke('other', 'system.time')).kind).toBe('succeeded')
}

describe.skipIf(!hasEngine())('a model that means harm', () => {
  test('whose template never ends is killed, and after the second time no longer loaded', async () => {
    const bytes = scriptModel(template(endless))
    await using engine = await openEngineKit({ loop: bytes }, { loadMs: 2_000 })
    const { kit } = engine
    await kit.agent('writer')
    await kit.agent('other')
    const state = () => kit.app.showEngine(kit.operator())
    const first = kit.invoke('writer', 'inference.chat', chat('hi', 'loop'))
    await expect.poll(async () => (await state()).status).toBe('starting')
    const sooner = [expectAnswer(engine).then(() => 'other'), first.then(() => 'model')]
    expect(await Promise.race(sooner)).toBe('other')
    expect(failureIn(await first)).toMatchObject({
      type: 'EngineFailed',
      message: expect.stringContaining('not ready after 2 s'),
    })
    expect(await state()).toMatchObject({ status: 'backing_off', crashes: 1, quarantined: [] })
    kit.clock.move(1_000)
    const second = await kit.invoke('writer', 'inference.chat', chat('hi', 'loop'))
    expect(failureIn(second)?.type).toBe('ModelQuarantined')
    kit.clock.move(60_000)
    expect(
      failureIn(await kit.invoke('writer', 'inference.chat', chat('hi', 'loop'))),
    ).toMatchObject({
      type: 'ModelQuarantined',
      message: expect.stringContaining('not ready after 2 s'),
    })
    expect(await state()).toMatchObject({ crashes: 2, quarantined: [{ id: 'loop' }] })
    expect((await kit.app.health(kit.operator())).components.models).toMatchObject({
      status: 'degraded',
      reason: 'loop is in quarantine',
    })
    await kit.app.releaseModel(kit.operator(), { id: 'loop' })
    expect((await state()).quarantined).toEqual([])
    expect((await kit.app.health(kit.operator())).components.models.status).toBe('healthy')
    const acts = (await kit.audit()).map(({ capability }) => capability)
    expect(acts).toContain('model.quarantined')
    expect(acts).toContain('model.released')
  })

  test('that traps a conversation is killed when its caller leaves, and nobody else waits for it', async () => {
    // Only a longer conversation springs it, so that it is loaded like any other.
    const trap = `{% if messages|length > 8 %}${endless}{% endif %}${plain}`
    const started: Engine[] = []
    await using engine = await openEngineKit(
      { trap: scriptModel(template(trap)) },
      {
        change: (parts) => ({
          ...parts,
          host: {
            ...parts.host,
            async start(...order) {
              const one = await parts.host.start(...order)
              started.push(one)
              return one
            },
          },
        }),
      },
    )
    const { kit } = engine
    await kit.agent('writer')
    await kit.agent('other')
    const said = await kit.invoke('other', 'inference.chat', chat('hi', 'trap'))
    expect(said).toMatchObject({ kind: 'succeeded', text: 'Hello from the local model.' })
    const { pid } = await kit.app.showEngine(kit.operator())
    const leaving = new AbortController()
    const turns = (['user', 'assistant'] as const).map((role) => ({ role, content: 'and?' }))
    const messages = [...turns, ...turns, ...turns, ...turns, ...turns, ...turns.slice(0, 1)]
    const trapped = kit.invoke(
      'writer',
      'inference.chat',
      { model: 'trap', messages },
      { signal: leaving.signal },
    )
    await expect.poll(() => started[0]?.becomesIdle(100)).toBe(false)
    await expectAnswer(engine)
    leaving.abort()
    expect(failureIn(await trapped)?.type).toBe('Cancelled')
    await expect
      .poll(async () => (await kit.app.showEngine(kit.operator())).last_failure)
      .toContain('was killed')
    await expect.poll(() => isAlive(pid)).toBe(false)
    kit.clock.move(1_000)
    const again = await kit.invoke('other', 'inference.chat', chat('hi', 'trap'))
    expect(again).toMatchObject({ kind: 'succeeded', text: 'Hello from the local model.' })
  })

  test('that would take more memory than there is is not loaded, and the numbers say why', async () => {
    await using engine = await openEngineKit(
      { large: scriptModel() },
      {
        change: (parts) => ({
          ...parts,
          host: { ...parts.host, availableMemory: async () => 100_000_000 },
        }),
      },
    )
    await engine.kit.agent('writer')
    const outcome = await engine.kit.invoke('writer', 'inference.chat', chat('hi', 'large'))
    expect(failureIn(outcome)).toMatchObject({
      type: 'ModelTooLarge',
      message: expect.stringMatching(
        /needs about 149\d{6} bytes of memory, and 100000000 are free/,
      ),
    })
    expect(await engine.kit.app.showEngine(engine.kit.operator())).toMatchObject({ crashes: 0 })
  })

  test('whose header would bring an engine down never gets near one', async () => {
    const key = 'llama.feed_forward_length'
    await expect(openEngineKit({ bad: scriptModel({ change: { [key]: null } }) })).rejects.toThrow(
      'ModelHeaderRefused',
    )
  })
})

const isAlive = (pid: number | null): boolean => {
  try {
    process.kill(pid ?? 0, 0)
    return true
  } catch {
    return false
  }
}
