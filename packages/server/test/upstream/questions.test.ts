import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Question } from '@gatehouse/contract'
import { createKit, type KitOptions } from '@gatehouse/testkit'
import { hasProgram } from '@gatehouse/testkit/programs'
import { inputRequired, McpServer } from '@modelcontextprotocol/server'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { outboundWith } from '../../src/outbound/testing.ts'
import type { Notice, Notifier } from '../../src/ports/notifier.ts'
import { type HttpServer, serveMcp } from './http-server.ts'
import { tool, UpstreamKit } from './upstream-kit.ts'

const text = (said: string) => ({ content: [{ type: 'text' as const, text: said }] })

const form = {
  message: 'Where to?\u0007',
  requestedSchema: {
    type: 'object' as const,
    properties: {
      branch: { type: 'string' as const, title: 'Branch', maxLength: 20 },
      force: { type: 'boolean' as const, default: false },
      password: { type: 'string' as const },
    },
    required: ['branch'],
  },
}

/** Asks for a form, asks for an address to be opened, and asks over and over. */
const createAsking = (): McpServer => {
  const server = new McpServer({ name: 'asking', version: '1.0.0' })
  const push = { description: 'Pushes.', inputSchema: z.object({}) }
  server.registerTool('push', push, (_args, { mcpReq }) => {
    const answered = mcpReq.inputResponses?.['where']
    if (answered === undefined)
      return inputRequired({ inputRequests: { where: inputRequired.elicit(form) } })
    return text(JSON.stringify(answered))
  })
  const open = { description: 'Opens.', inputSchema: z.object({ url: z.string() }) }
  server.registerTool('open', open, ({ url }, { mcpReq }) => {
    const answered = mcpReq.inputResponses?.['page']
    const request = inputRequired.elicitUrl({ message: 'Pay first.', url })
    if (answered === undefined) return inputRequired({ inputRequests: { page: request } })
    return text(JSON.stringify(answered))
  })
  const endless = { description: 'Asks on.', inputSchema: z.object({}) }
  server.registerTool('endless', endless, () =>
    inputRequired({ inputRequests: { where: inputRequired.elicit(form) } }),
  )
  const sample = { description: 'Asks a model.', inputSchema: z.object({}) }
  server.registerTool('sample', sample, () =>
    inputRequired({
      inputRequests: { said: inputRequired.createMessage({ messages: [], maxTokens: 10 }) },
    }),
  )
  return server
}

const askingOverHttp = async (options: KitOptions = {}) => {
  const server = await serveMcp(createAsking)
  const outbound = outboundWith({ privateTargets: [server.target] })
  const kit = await UpstreamKit.open({ outbound, programs: false, ...options })
  await kit.add(overHttp(server))
  await kit.accept()
  await kit.allow()
  return Object.assign(kit, { server })
}

const overHttp = ({ url }: HttpServer) => ({
  server: { kind: 'http' as const, url },
  grants: { folders: [], hosts: [], environment: {} },
})

const questions = async ({ kit }: UpstreamKit) =>
  (await kit.app.listQuestions(kit.operator())).questions

/** The question that is asked next. */
const asked = async (kit: UpstreamKit): Promise<Question> => {
  await expect.poll(async () => (await questions(kit)).length).toBe(1)
  const [question] = await questions(kit)
  if (!question) throw new Error('nothing is asked')
  return question
}

const answer = ({ kit }: UpstreamKit, question_id: string, given: object) =>
  kit.app.answerQuestion(kit.operator(), { question_id, action: 'accept', ...given })

describe('questions of an upstream server over HTTP', () => {
  test('wait for a person, whose values are checked, recorded and passed on', async () => {
    await using kit = await askingOverHttp()
    await using _server = kit.server
    const told: string[] = []
    const progress = (_done: number, _total?: number, message?: string) =>
      void told.push(`${message}`)
    const call = kit.kit.invoke('alpha', 'scripted.push', {}, { progress })
    const question = await asked(kit)
    expect(question).toMatchObject({
      upstream: 'scripted',
      agent: 'alpha',
      capability: 'scripted.push',
      kind: 'form',
      message: 'Where to? ',
      other_calls: 0,
      fields: [
        { name: 'branch', title: 'Branch', type: 'text', required: true, secret: false },
        { name: 'force', type: 'boolean', default: false },
        { name: 'password', secret: true },
      ],
    })
    expect(told).toEqual(['scripted asks a person, and waits for the answer'])
    for (const [values, detail] of [
      [{}, 'branch is missing.'],
      [{ branch: 'x'.repeat(21) }, 'branch must be at most 20 characters.'],
      [{ branch: 'main', rebase: true }, 'rebase is no field of the form.'],
      [{ branch: 'main', force: 'yes' }, 'force must be true or false.'],
    ] as const)
      await expect(answer(kit, question.id, { values })).rejects.toMatchObject({
        type: 'AnswerRefused',
        facts: { detail },
      })
    const values = { branch: 'main', password: 'hunter2-hunter2' }
    const answers = await Promise.allSettled([
      answer(kit, question.id, { values }),
      answer(kit, question.id, { action: 'decline' }),
    ])
    expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
    const outcome = await call
    // What the server was told is kept from the model where it is a secret.
    expect(JSON.parse((outcome as { text: string }).text)).toEqual({
      action: 'accept',
      content: { branch: 'main', force: false, password: '[secret:answer:scripted]' },
    })
    const [answered] = await kit.kit.audit({ capability: 'upstream.answered' })
    expect(answered).toMatchObject({
      actor: 'user:ana',
      agent: 'alpha',
      arguments: { question_id: question.id, server: 'scripted', action: 'accept' },
      detail: { values: { branch: 'main', force: false, password: 'not kept' } },
    })
    expect(await kit.kit.audit({ capability: 'upstream.asked' })).toHaveLength(1)
    expect(JSON.stringify(await kit.kit.audit())).not.toContain('hunter2')
    expect(await questions(kit)).toEqual([])
  })

  test('can be declined and cancelled, which the server is told', async () => {
    await using kit = await askingOverHttp()
    await using _server = kit.server
    for (const action of ['decline', 'cancel'] as const) {
      const call = kit.kit.invoke('alpha', 'scripted.push')
      await answer(kit, (await asked(kit)).id, { action })
      expect(await call).toMatchObject({ text: JSON.stringify({ action }) })
    }
  })

  test('name an address as it is, and one that leads anywhere but to the web is shown to nobody', async () => {
    await using kit = await askingOverHttp()
    await using _server = kit.server
    const url = 'https://pay.example/order?id=7'
    const call = kit.kit.invoke('alpha', 'scripted.open', { url })
    const question = await asked(kit)
    expect(question).toMatchObject({ kind: 'url', url, message: 'Pay first.', fields: [] })
    await expect(answer(kit, question.id, { values: {} })).rejects.toMatchObject({
      type: 'AnswerRefused',
    })
    await answer(kit, question.id, {})
    expect(await call).toMatchObject({ text: JSON.stringify({ action: 'accept' }) })
    for (const bad of ['file:///etc/passwd', 'javascript:alert(1)', 'https://ana:pw@x.example/'])
      expect(await kit.kit.invoke('alpha', 'scripted.open', { url: bad })).toMatchObject({
        error: {
          type: 'UpstreamFailed',
          message: expect.stringContaining('asks a person to open'),
        },
      })
    expect(await questions(kit)).toEqual([])
  })

  test('end with the call, with their time, and where a server never stops asking', async () => {
    await using kit = await askingOverHttp()
    await using _server = kit.server
    const gone = new AbortController()
    const cancelled = kit.kit.invoke('alpha', 'scripted.push', {}, { signal: gone.signal })
    const first = await asked(kit)
    gone.abort()
    expect(await cancelled).toMatchObject({ kind: 'failed' })
    expect(await questions(kit)).toEqual([])
    await expect(answer(kit, first.id, {})).rejects.toMatchObject({
      type: 'QuestionWithdrawn',
      message: expect.stringContaining('the call has ended'),
    })
    await expect(answer(kit, 'ques-unknown', {})).rejects.toMatchObject({
      type: 'QuestionNotFound',
    })

    const forgotten = kit.kit.invoke('alpha', 'scripted.push')
    await asked(kit)
    // Longer than a call may take: while a person is asked, its own time stands still.
    kit.kit.clock.move(9 * 60_000)
    expect(await questions(kit)).toHaveLength(1)
    kit.kit.clock.move(60_000)
    expect(await forgotten).toMatchObject({ text: JSON.stringify({ action: 'cancel' }) })

    const endless = kit.kit.invoke('alpha', 'scripted.endless')
    for (let i = 0; i < 10; i += 1) await answer(kit, (await asked(kit)).id, { action: 'decline' })
    expect(await endless).toMatchObject({ error: { type: 'UpstreamFailed' } })
    const withdrawn = await kit.kit.audit({ capability: 'upstream.question_withdrawn' })
    expect(withdrawn.map(({ detail }) => detail?.['reason'])).toEqual([
      'nobody answered in time',
      'the call has ended',
    ])
  })

  test('are withdrawn when the service stops, and whoever answers later is told why', async () => {
    const leaves = mkdtempSync(join(tmpdir(), 'gatehouse-questions-'))
    const kit = await askingOverHttp({ leaves })
    await using _server = kit.server
    const call = kit.kit.invoke('alpha', 'scripted.push')
    const { id } = await asked(kit)
    const withdrawn = {
      type: 'QuestionWithdrawn',
      message: expect.stringContaining('the service was stopped while it waited'),
    }
    kit.kit.app.listeners.stopping()
    expect(await call).toMatchObject({
      error: { type: 'UpstreamFailed', message: expect.stringContaining('is stopping') },
    })
    await expect(answer(kit, id, {})).rejects.toMatchObject(withdrawn)
    // Nothing is put to people any more.
    expect(await kit.kit.invoke('alpha', 'scripted.push')).toMatchObject({ kind: 'failed' })
    await kit[Symbol.asyncDispose]()
    await using next = await createKit({ begins: leaves })
    const late = { question_id: id, action: 'accept' } as const
    await expect(next.app.answerQuestion(next.operator(), late)).rejects.toMatchObject(withdrawn)
    const ends = await next.audit({ capability: 'upstream.question_withdrawn' })
    expect(ends.filter((entry) => entry.arguments['question_id'] === id)).toMatchObject([
      { agent: 'alpha', detail: { reason: expect.stringContaining('was stopped') } },
    ])
    rmSync(leaves, { recursive: true })
  })

  test('to a model are refused, and say so', async () => {
    await using kit = await askingOverHttp()
    await using _server = kit.server
    expect(await kit.kit.invoke('alpha', 'scripted.sample')).toMatchObject({
      kind: 'failed',
      error: { message: expect.stringContaining('sampling/createMessage') },
    })
  })

  test('are told to whoever listens and elsewhere, there without what they ask', async () => {
    const got: Notice[] = []
    const events = ['question.pending'] as const
    const target = { name: 'phone', kind: 'webhook', origin: 'https://x.example' } as const
    const notifier: Notifier = {
      targets: [{ ...target, events, hasSecret: false }],
      async send(_target, notice) {
        got.push(notice)
        return { kind: 'delivered', status: 200 }
      },
    }
    await using kit = await askingOverHttp({ notifier })
    await using _server = kit.server
    const heard: Question[] = []
    using _listening = kit.kit.app.subscribeQuestions((question) => heard.push(question))
    const call = kit.kit.invoke('alpha', 'scripted.push')
    const { id } = await asked(kit)
    expect(heard.map((question) => question.id)).toEqual([id])
    const told = () => {
      kit.kit.clock.move(1_000)
      return got.map(({ type, title, data }) => [type, title, data['question_id']])
    }
    await expect.poll(told).toEqual([['question.pending', 'scripted asks a person, for alpha', id]])
    expect(JSON.stringify(got)).not.toContain('Where to')
    await answer(kit, id, { action: 'cancel' })
    await call
  })
})

describe.skipIf(!hasProgram('bwrap'))('questions of a program', () => {
  test('official: a form and an address, in the middle of a call and in place of one', async () => {
    await using kit = await UpstreamKit.open()
    await kit.add(kit.official('everything', ['stdio']))
    await kit.accept(undefined, 'everything')
    await kit.allow('everything')
    const call = kit.kit.invoke('alpha', 'everything.trigger-elicitation-request')
    const question = await asked(kit)
    expect(question.fields.map(({ name, type }) => [name, type])).toContainEqual(['name', 'text'])
    await answer(kit, question.id, { values: { name: 'Ana' } })
    expect(await call).toMatchObject({ kind: 'succeeded', text: expect.stringContaining('Ana') })

    for (const errorPath of [false, true]) {
      const url = 'https://pay.example/order'
      const args = { url, errorPath }
      const opening = kit.kit.invoke('alpha', 'everything.trigger-url-elicitation', args)
      expect(await asked(kit)).toMatchObject({ kind: 'url' })
      await answer(kit, (await asked(kit)).id, {})
      if (errorPath) await answer(kit, (await asked(kit)).id, {})
      expect(await opening).toMatchObject({ kind: 'succeeded' })
    }
  })

  const hostile = async (ask: object) => {
    const kit = await UpstreamKit.open()
    kit.says({ tools: [tool('ask'), tool('say'), tool('die')], ask } as never)
    await kit.add()
    await kit.accept()
    await kit.allow()
    return kit
  }

  test('end with the program that asks', async () => {
    await using kit = await hostile(form)
    const call = kit.kit.invoke('alpha', 'scripted.ask')
    await asked(kit)
    await kit.kit.invoke('alpha', 'scripted.die')
    expect(await call).toMatchObject({ error: { type: 'UpstreamFailed' } })
    await expect.poll(() => questions(kit)).toEqual([])
  })

  test('say that it is not known which of several calls they are for', async () => {
    await using kit = await hostile(form)
    const first = kit.kit.invoke('alpha', 'scripted.ask')
    await asked(kit)
    const calls = [first, kit.kit.invoke('alpha', 'scripted.ask')]
    await expect.poll(async () => (await questions(kit)).length).toBe(2)
    const all = await questions(kit)
    expect(all.map(({ other_calls }) => other_calls)).toEqual([0, 1])
    for (const { id } of all) await answer(kit, id, { values: { branch: 'main' } })
    for (const call of calls) expect(await call).toMatchObject({ kind: 'succeeded' })
  })

  test.each([
    ['nothing that could be filled in', { message: 'Hm?', requestedSchema: { type: 'array' } }],
    ['a nested form', { message: 'Hm?', requestedSchema: nested() }],
    ['a form without an end', { message: 'Hm?', requestedSchema: wide(60) }],
    ['a name that hides', { message: 'Hm?', requestedSchema: named('a\u202eb') }],
    ['something unknown', { mode: 'oral', message: 'Hm?' }],
  ])('about %s reach nobody', async (_what, ask) => {
    await using kit = await hostile(ask)
    expect(await kit.kit.invoke('alpha', 'scripted.ask')).toMatchObject({
      kind: 'succeeded',
      text: expect.stringContaining('error'),
    })
    expect(await kit.kit.audit({ capability: 'upstream.asked' })).toEqual([])
  })

  test('to a model, and for whatever else no server gets, are refused with the reason', async () => {
    await using kit = await hostile({})
    for (const [method, reason] of [
      ['sampling/createMessage', 'it asks for an answer of a model'],
      ['roots/list', 'it asks for folders'],
      ['something/else', 'it asks for something that is not known here'],
    ] as const) {
      kit.says({ tools: [tool('ask'), tool('say'), tool('die')], ask: { method } } as never)
      const { text: replies } = (await kit.kit.invoke('alpha', 'scripted.ask')) as {
        readonly text: string
      }
      const [{ error }] = JSON.parse(replies)
      expect(error).toMatchObject({ code: -32601, message: expect.stringContaining(reason) })
    }
  })

  test('are bounded, and asked in the middle of nothing they reach nobody', async () => {
    await using kit = await hostile({ ...form, times: 30 })
    const call = kit.kit.invoke('alpha', 'scripted.ask')
    await expect.poll(async () => (await questions(kit)).length).toBe(10)
    for (const { id } of await questions(kit)) await answer(kit, id, { action: 'decline' })
    expect(await call).toMatchObject({ kind: 'succeeded' })
    expect(await kit.kit.audit({ capability: 'upstream.asked' })).toHaveLength(10)
    kit.says({ tools: [tool('ask')], ask: form, asksAtOnce: true } as never)
    await kit.kit.app.refreshUpstream(kit.kit.operator(), { name: 'scripted' })
    expect(await questions(kit)).toEqual([])
  })
})

function nested() {
  return { type: 'object', properties: { a: { type: 'object', properties: {} } } }
}

function wide(count: number) {
  const names = Array.from({ length: count }, (_, i) => [`f${i}`, { type: 'string' }])
  return { type: 'object', properties: Object.fromEntries(names) }
}

function named(name: string) {
  return { type: 'object', properties: { [name]: { type: 'string' } } }
}
