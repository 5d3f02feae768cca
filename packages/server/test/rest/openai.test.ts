import { GatehouseError } from '@gatehouse/contract'
import type { EngineAnswers } from '@gatehouse/testkit/installation/engine'
import { sentence } from '@gatehouse/testkit/installation/engine'
import OpenAI, { type APIError } from 'openai'
import { expect, test } from 'vitest'
import { openUserApi } from '../../src/transport/rest/open-user-api.ts'
import { openRestKit } from './kit.ts'

const messages = [{ role: 'user' as const, content: 'Who are you?' }]

async function openKit(engine: EngineAnswers = {}) {
  const kit = await openRestKit({ engine })
  const apiKey = kit.tokens.viewer
  const api = await openUserApi({ ...kit.options, host: '127.0.0.1', port: 0, graceMs: 200 })
  const client = new OpenAI({ apiKey, baseURL: `${api.url}/v1`, maxRetries: 0 })
  return {
    kit,
    client,
    url: api.url,
    async [Symbol.asyncDispose]() {
      await api.close()
      await kit[Symbol.asyncDispose]()
    },
  }
}

const untilAborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error))
  })

const failing = async (work: Promise<unknown>): Promise<APIError> => {
  const thrown: unknown = await work.catch((cause: unknown) => cause)
  if (!(thrown instanceof OpenAI.APIError)) throw new Error(`no API error but ${String(thrown)}`)
  return thrown
}

test('the client of OpenAI lists models, and asks for one', async () => {
  await using kit = await openKit()
  const models = []
  for await (const model of kit.client.models.list()) models.push(model)
  const facts = { object: 'model', created: expect.any(Number), owned_by: 'gatehouse' }
  expect(models).toEqual([
    { id: 'odd', ...facts },
    { id: 'tiny', ...facts },
  ])
  expect(await kit.client.models.retrieve('tiny')).toEqual(models[1])
  expect(await failing(kit.client.models.retrieve('hug/nothing'))).toMatchObject({
    status: 404,
    code: 'model_not_found',
    type: 'invalid_request_error',
  })
})

test('the client of OpenAI has conversations, whole and as they come', async () => {
  await using kit = await openKit()
  const { chat } = kit.client
  const whole = await chat.completions.create({ model: 'tiny', messages })
  expect(whole).toMatchObject({
    object: 'chat.completion',
    model: 'tiny',
    choices: [
      { index: 0, message: { role: 'assistant', content: sentence }, finish_reason: 'stop' },
    ],
    usage: { prompt_tokens: 22, completion_tokens: 9, total_tokens: 31 },
  })
  const parts = []
  const stream_options = { include_usage: true }
  const stream = { model: 'tiny', messages, stream: true as const, stream_options }
  for await (const part of await chat.completions.create(stream)) parts.push(part)
  expect(parts.map(({ choices }) => choices[0]?.delta.content ?? '').join('')).toBe(sentence)
  expect(parts[0]?.choices[0]?.delta.role).toBe('assistant')
  expect(parts.at(-2)?.choices[0]?.finish_reason).toBe('stop')
  expect(parts.at(-1)).toMatchObject({ choices: [], usage: { total_tokens: 31 } })
  const runner = chat.completions.stream({ model: 'tiny', messages })
  expect(await runner.finalContent()).toBe(sentence)
})

test('the client of OpenAI completes texts and makes vectors, in either form of its own', async () => {
  await using kit = await openKit()
  const asked = { model: 'tiny', prompt: 'Once', max_tokens: 2 }
  expect(await kit.client.completions.create(asked)).toMatchObject({
    choices: [{ text: 'Hello from', finish_reason: 'length' }],
  })
  const input = ['one', 'two']
  const short = await kit.client.embeddings.create({ model: 'tiny', input })
  const plain = await kit.client.embeddings.create({
    model: 'tiny',
    input,
    encoding_format: 'float',
  })
  expect(plain.data.map(({ embedding }) => embedding)).toEqual([
    [0.6, 0.8],
    [0.8, 0.6],
  ])
  for (const [at, { embedding }] of short.data.entries())
    for (const [i, value] of embedding.entries())
      expect(value).toBeCloseTo(plain.data[at]?.embedding[i] ?? 0, 6)
})

test('what is asked for reaches the engine in its own words', async () => {
  const seen: unknown[] = []
  await using kit = await openKit({
    async generate(task) {
      seen.push(task)
      const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
      return { text: 'x', finish_reason: 'stop', usage }
    },
  })
  const answer = await kit.client.chat.completions.create({
    model: 'tiny',
    messages: [
      { role: 'developer', content: 'Be short.' },
      { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
    ],
    max_completion_tokens: 7,
    temperature: 0,
    seed: 4,
    stop: 'END',
    response_format: {
      type: 'json_schema',
      json_schema: { name: 'x', schema: { type: 'object' } },
    },
    user: 'somebody',
  })
  expect(answer.model).toBe('tiny')
  expect(seen).toEqual([
    {
      kind: 'chat',
      messages: [
        { role: 'system', content: 'Be short.' },
        { role: 'user', content: 'Hi' },
      ],
      max_tokens: 7,
      temperature: 0,
      seed: 4,
      stop: ['END'],
      json_schema: { type: 'object', properties: {}, additionalProperties: true },
    },
  ])
})

test('failures have the shape that clients read, before a stream and in it', async () => {
  await using kit = await openKit({
    async generate(_task, onText) {
      onText('Hel')
      await new Promise((resolve) => setImmediate(resolve))
      throw new GatehouseError('EngineFailed', { detail: 'signal SIGABRT' })
    },
    embed: (_inputs, signal) => untilAborted(signal),
  })
  const { chat, embeddings } = kit.client
  expect(await failing(chat.completions.create({ model: 'tiny', messages }))).toMatchObject({
    status: 503,
    type: 'server_error',
    code: 'EngineFailed',
    headers: expect.anything(),
  })
  const stream = await chat.completions.create({ model: 'tiny', messages, stream: true })
  let text = ''
  const read = async () => {
    for await (const part of stream) text += part.choices[0]?.delta.content ?? ''
  }
  expect((await failing(read())).message).toContain('SIGABRT')
  expect(text).toBe('Hel')
  // One is at work and four wait.
  const leaving = new AbortController()
  const asked = Array.from({ length: 5 }, () =>
    embeddings.create({ model: 'tiny', input: 'x' }, { signal: leaving.signal }),
  )
  const ended = Promise.allSettled(asked)
  const { app, operator } = kit.kit.kit
  await expect.poll(async () => (await app.showEngine(operator())).waiting).toBe(4)
  expect(await failing(embeddings.create({ model: 'tiny', input: 'x' }))).toMatchObject({
    status: 429,
    type: 'rate_limit_error',
  })
  leaving.abort()
  await ended
})

test('what it does not know is refused by name, and nothing is guessed', async () => {
  await using kit = await openKit()
  const create = (change: object) =>
    failing(kit.client.chat.completions.create({ model: 'tiny', messages, ...change } as never))
  expect(await create({ messages: [] })).toMatchObject({ status: 400, param: 'messages' })
  expect(await create({ n: 2 })).toMatchObject({ status: 400, param: 'n' })
  expect(await create({ tools: [{ type: 'function' }] })).toMatchObject({ status: 400 })
  expect(await create({ temperature: 9 })).toMatchObject({ param: 'temperature' })
  expect(await create({ model: 'nothing' })).toMatchObject({ code: 'model_not_found', status: 404 })
  const audio = kit.client.post('/audio/speech', { body: {} })
  expect(await failing(audio)).toMatchObject({ status: 404, code: 'NotFound' })
})

test('it takes user tokens of any role, and nothing else', async () => {
  await using shared = await openKit()
  const given = { baseURL: `${shared.url}/v1`, maxRetries: 0 }
  for (const role of ['viewer', 'approver', 'operator'] as const) {
    const client = new OpenAI({ ...given, apiKey: shared.kit.tokens[role] })
    expect((await client.models.list()).data).toHaveLength(2)
  }
  for (const token of ['', 'sk-1234', 'a'.repeat(64), `gatehouse_user_${'x'.repeat(43)}`]) {
    const client = new OpenAI({ ...given, apiKey: token || 'none' })
    expect(await failing(client.models.list().then((page) => page))).toMatchObject({
      status: 401,
      code: 'invalid_api_key',
    })
  }
})

test('a page of a browser does not reach it, and the listener for browsers has none of it', async () => {
  await using kit = await openKit()
  const headers = { authorization: `Bearer ${kit.kit.tokens.viewer}` }
  const foreign = { ...headers, origin: 'https://evil.example' }
  expect((await fetch(`${kit.url}/v1/models`, { headers: foreign })).status).toBe(403)
  await using dashboard = await openRestKit({}, { forBrowsers: true })
  const answer = await dashboard.call('GET', '/v1/models', { role: 'operator' })
  expect(answer.status).toBe(404)
})

test('a client that leaves ends what it asked for', async () => {
  let left = false
  await using kit = await openKit({
    generate(_task, onText, signal) {
      onText('Hel')
      signal.addEventListener('abort', () => (left = true))
      return untilAborted(signal)
    },
  })
  const stream = await kit.client.chat.completions.create({ model: 'tiny', messages, stream: true })
  for await (const part of stream) if (part.choices[0]?.delta.content) break
  await expect.poll(() => left).toBe(true)
})
