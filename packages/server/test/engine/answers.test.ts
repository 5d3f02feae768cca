import { failureIn, scriptModel } from '@gatehouse/testkit'
import { hasEngine } from '@gatehouse/testkit/programs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { InvokeOutcome } from '../../src/app/call/invoke.ts'
import { type EngineKit, idleMs, openEngineKit } from './kit.ts'

const sentence = 'Hello from the local model.'
const ask = { messages: [{ role: 'user', content: 'Who are you?' }] }

const dataOf = (outcome: InvokeOutcome): Record<string, unknown> => {
  if (outcome.kind !== 'succeeded') throw new Error(JSON.stringify(outcome))
  return outcome.data as Record<string, unknown>
}

describe.skipIf(!hasEngine())('a model that was installed', () => {
  let engine: EngineKit
  const invoke = (capability: string, args: object = {}) =>
    engine.kit.invoke('writer', capability, args)
  const state = () => engine.kit.app.showEngine(engine.kit.operator())

  beforeAll(async () => {
    const other = scriptModel({ sentence: 'Another one speaks.' })
    engine = await openEngineKit({ tiny: scriptModel(), other })
    await engine.kit.agent('writer')
  })
  afterAll(() => engine[Symbol.asyncDispose]())

  test('is asked for by name until an operator chooses a default', async () => {
    expect(failureIn(await invoke('inference.chat', ask))).toMatchObject({ type: 'NoModelChosen' })
    await engine.kit.app.setDefaultModel(engine.kit.operator(), { id: 'tiny' })
    expect(dataOf(await invoke('inference.models'))).toMatchObject({
      default_model: 'tiny',
      models: [
        { id: 'other', default: false, loaded: false },
        { id: 'tiny', default: true, loaded: false, context_tokens: 2_048, quarantine: null },
      ],
    })
  })

  test('answers what it always answers, and the log says what kept it', async () => {
    const outcome = await invoke('inference.chat', ask)
    const answer = dataOf(outcome)
    expect(answer).toMatchObject({ model: 'tiny', text: sentence, finish_reason: 'stop' })
    const { prompt_tokens, ...usage } = answer['usage'] as Record<string, number>
    expect(prompt_tokens).toBeGreaterThan('Who are you?'.length)
    // The first word by its letters: the last prompt token is no space. Each is counted, whatever the chunks.
    expect(usage).toEqual({ completion_tokens: 9, total_tokens: 9 + (prompt_tokens ?? 0) })
    expect(outcome).toMatchObject({ text: sentence })
    const [entry] = await engine.kit.audit({ capability: 'inference.chat' })
    expect(entry).toMatchObject({ detail: { sandbox: 'bubblewrap', model: 'tiny' } })
    const now = await state()
    expect(now).toMatchObject({ status: 'running', model: 'tiny', crashes: 0, active: 0 })
    expect(now.measures).toMatchObject([{ id: 'tiny' }])
    expect(now.tokens_per_second).toBeGreaterThan(0)
    expect(now.memory_bytes).toBeGreaterThan(50_000_000)
  })

  test('tells of the text as it comes', async () => {
    const told: string[] = []
    const progress = (_done: number, _total?: number, message?: string) => told.push(message ?? '')
    await engine.kit.invoke('writer', 'inference.chat', ask, { progress })
    expect(told.length).toBeGreaterThan(0)
    for (const text of told) expect(sentence.startsWith(text)).toBe(true)
  })

  test('goes on with a text, no further than it may, and stops where it is told', async () => {
    const prompt = 'Once upon a time'
    expect(dataOf(await invoke('inference.generate', { prompt, max_tokens: 3 }))).toMatchObject({
      text: 'Hello from the',
      finish_reason: 'length',
    })
    expect(dataOf(await invoke('inference.generate', { prompt, stop: ['local'] }))).toMatchObject({
      text: 'Hello from the',
      finish_reason: 'stop',
    })
  })

  test('writes JSON that fits a schema, and says which schema it cannot follow', async () => {
    const json_schema = {
      type: 'object',
      properties: { answer: { enum: ['Hello', 'Bye'] }, sure: { type: 'boolean' } },
      required: ['answer', 'sure'],
      additionalProperties: false,
    }
    const { text } = dataOf(await invoke('inference.chat', { ...ask, json_schema }))
    expect(JSON.parse(String(text))).toEqual({
      answer: expect.stringMatching(/^(Hello|Bye)$/),
      sure: expect.any(Boolean),
    })
    const broken = { ...ask, json_schema: { $ref: '#/nowhere' } }
    expect(failureIn(await invoke('inference.chat', broken))?.type).toBe('GenerationRefused')
  })

  test('makes vectors of length 1, the same for the same text', async () => {
    const { vectors } = dataOf(
      await invoke('inference.embed', { input: ['one', 'two', 'one'] }),
    ) as { vectors: number[][] }
    expect(vectors).toHaveLength(3)
    for (const vector of vectors) {
      expect(vector).toHaveLength(64)
      expect(Math.hypot(...vector)).toBeCloseTo(1, 5)
    }
    expect(vectors[2]).toEqual(vectors[0])
  })

  test('is refused a prompt that its context does not hold, and lives', async () => {
    const { pid } = await state()
    const long = { messages: [{ role: 'user', content: 'é'.repeat(3_000) }] }
    expect(failureIn(await invoke('inference.chat', long))).toMatchObject({ type: 'PromptTooLong' })
    expect(dataOf(await invoke('inference.chat', ask))).toMatchObject({ text: sentence })
    expect(await state()).toMatchObject({ pid, crashes: 0 })
  })

  test('gives way to another one, since there is room for one', async () => {
    const { pid } = await state()
    const answer = dataOf(await invoke('inference.chat', { ...ask, model: 'other' }))
    expect(answer).toMatchObject({ text: 'Another one speaks.', model: 'other' })
    expect(() => process.kill(pid ?? 0, 0)).toThrow('ESRCH')
    expect((await state()).model).toBe('other')
  })

  test('leaves the memory when it has been idle, and comes back when it is needed', async () => {
    const { pid } = await state()
    engine.kit.clock.move(idleMs - 1)
    expect((await state()).pid).toBe(pid)
    engine.kit.clock.move(1)
    await expect.poll(state).toMatchObject({ status: 'stopped', crashes: 0, last_failure: null })
    expect(dataOf(await invoke('inference.chat', ask))).toMatchObject({ text: sentence })
  })

  test('comes back after its process was killed, once it has rested', async () => {
    const { pid } = await state()
    process.kill(-(pid ?? 0), 'SIGKILL')
    await expect.poll(state).toMatchObject({ status: 'backing_off', crashes: 1 })
    expect(failureIn(await invoke('inference.chat', ask))).toMatchObject({
      type: 'EngineFailed',
      message: expect.stringContaining('it starts again in 1 s'),
    })
    engine.kit.clock.move(1_000)
    expect(dataOf(await invoke('inference.chat', ask))).toMatchObject({ text: sentence })
  })

  test('is stopped and started by an operator, which the log says', async () => {
    const { app } = engine.kit
    expect(await app.stopEngine(engine.kit.operator())).toMatchObject({ status: 'stopped' })
    expect(await app.startEngine(engine.kit.operator(), { model: null })).toMatchObject({
      status: 'running',
      model: 'tiny',
    })
    const acts = (await engine.kit.audit()).map(({ capability }) => capability)
    expect(acts.slice(0, 2)).toEqual(['engine.started', 'engine.stopped'])
  })
})
