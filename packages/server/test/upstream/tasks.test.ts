import { createKit } from '@gatehouse/testkit'
import { hasProgram } from '@gatehouse/testkit/programs'
import { McpServer } from '@modelcontextprotocol/server'
import { describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { outboundWith } from '../../src/outbound/testing.ts'
import { type Intercept, serveMcp } from './http-server.ts'
import { UpstreamKit } from './upstream-kit.ts'

// A server may answer a call with a task: the agent gets what comes of it, as of any other call.

type Kit = UpstreamKit['kit']

/** Answers the question that is asked next. */
const answerNext = async (kit: Kit, values: Readonly<Record<string, string>>): Promise<void> => {
  const asked = async () => (await kit.app.listQuestions(kit.operator())).questions
  await expect.poll(asked).toHaveLength(1)
  for (const { id: question_id } of await asked())
    await kit.app.answerQuestion(kit.operator(), { question_id, action: 'accept', values })
}

describe.skipIf(!hasProgram('bwrap'))('tasks of 2025-11-25', () => {
  test('are begun for a tool that wants it so, and end with its result', async () => {
    await using kit = await UpstreamKit.open()
    await kit.add(kit.official('everything', ['stdio']))
    await kit.accept(undefined, 'everything')
    await kit.allow('everything')
    const told: unknown[] = []
    const call = kit.kit.invoke(
      'alpha',
      'everything.simulate-research-query',
      { topic: 'python', ambiguous: true },
      { progress: (...all) => told.push(all) },
    )
    await answerNext(kit.kit, { interpretation: 'snake' })
    expect(await call).toMatchObject({
      kind: 'succeeded',
      text: expect.stringContaining('Research Report: python (snake)'),
    })
    expect(told[0]).toEqual([1, undefined, 'Gathering sources...'])
  })
})

const handle = { taskId: 'task-1', createdAt: '2026-11-25T12:00:00Z', pollIntervalMs: 100 }
const facts = { ...handle, lastUpdatedAt: handle.createdAt, ttlMs: 60_000 }
const complete = { resultType: 'complete' }

/** A server of 2026-07-28 whose tool `slow` answers with a task; each look at it is answered with the next state. */
const kitWith = async (...states: readonly object[]) => {
  const left = [...states]
  const asked: { readonly method: string; readonly params: Readonly<Record<string, unknown>> }[] =
    []
  const intercept: Intercept = ({ method, params = {} }) => {
    if (method === 'tools/call') return { ...facts, resultType: 'task', status: 'working' }
    if (!method.startsWith('tasks/')) return undefined
    const { _meta, ...said } = params
    asked.push({ method, params: said })
    if (method !== 'tasks/get') return complete
    const next = left.length > 1 ? left.shift() : left[0]
    return { ...complete, ...facts, ...next }
  }
  const server = await serveMcp(() => {
    const made = new McpServer({ name: 'slow', version: '1.0.0' })
    const slow = { description: 'Takes its time.', inputSchema: z.object({}) }
    made.registerTool('slow', slow, () => ({ content: [] }))
    return made
  }, intercept)
  onTestFinished(() => server[Symbol.asyncDispose]())
  const kit = await createKit({ outbound: outboundWith({ privateTargets: [server.target] }) })
  onTestFinished(() => kit[Symbol.asyncDispose]())
  await kit.agent('alpha')
  const { digest } = await kit.app.addUpstream(kit.operator(), {
    ...{ name: 'remote', server: { kind: 'http', url: server.url }, credentials: {} },
    ...{ grants: { folders: [], hosts: [], environment: {} }, per_agent: true, dry_run: false },
  })
  await kit.app.acceptUpstream(kit.operator(), { name: 'remote', digest })
  const text = 'version: 1\nrules:\n  - {match: remote.*, tier: autonomous}\n'
  await kit.parts.policy.save({ text })
  return { kit, asked }
}

const result = {
  content: [{ type: 'text', text: 'done' }],
  _meta: { 'gatehouse/upstream': 'other' },
}

describe('tasks of 2026-07-28', () => {
  test('are followed to their result, which is marked like any other', async () => {
    const { kit, asked } = await kitWith(
      { status: 'working', statusMessage: 'half' },
      { status: 'completed', result },
    )
    const told: unknown[] = []
    const options = { progress: (...all: unknown[]) => told.push(all) }
    expect(await kit.invoke('alpha', 'remote.slow', {}, options)).toMatchObject({
      kind: 'succeeded',
      data: { content: result.content, _meta: { 'gatehouse/upstream': 'remote' } },
    })
    expect(told).toEqual([[1, undefined, 'half']])
    expect(asked.map(({ method }) => method)).toEqual(['tasks/get', 'tasks/get'])
    const entries = await kit.audit({ capability: 'remote.slow' })
    expect(entries.map((entry) => entry.result)).toEqual(['success', 'pending'])
  })

  test('ask people what they want to know, each thing once', async () => {
    const where = {
      method: 'elicitation/create',
      params: {
        message: 'Where to?',
        requestedSchema: { type: 'object', properties: { branch: { type: 'string' } } },
      },
    }
    const waiting = { status: 'input_required', inputRequests: { where } }
    const { kit, asked } = await kitWith(waiting, waiting, { status: 'completed', result })
    const call = kit.invoke('alpha', 'remote.slow')
    await answerNext(kit, { branch: 'main' })
    expect(await call).toMatchObject({ kind: 'succeeded' })
    const inputResponses = { where: { action: 'accept', content: { branch: 'main' } } }
    expect(asked.filter(({ method }) => method === 'tasks/update')).toEqual([
      { method: 'tasks/update', params: { taskId: 'task-1', inputResponses } },
    ])
  })

  test('fail in the server’s words', async () => {
    const error = { code: -32603, message: 'out of paper' }
    const { kit } = await kitWith({ status: 'failed', error })
    expect(await kit.invoke('alpha', 'remote.slow')).toMatchObject({
      kind: 'failed',
      error: { type: 'UpstreamToolFailed', message: expect.stringContaining('out of paper') },
    })
  })

  test.each([
    ['cancelled by the server', { status: 'cancelled' }, 'cancelled the task'],
    ['another task', { taskId: 'task-2', status: 'working' }, 'another task'],
    ['no state of a task', { status: 'lost' }, 'the form that the protocol asks for'],
    ['no result', { status: 'completed', result: { content: 'x' } }, 'the form that the protocol'],
  ])('fail where there is %s', async (_what, state, message) => {
    const { kit } = await kitWith(state)
    expect(await kit.invoke('alpha', 'remote.slow')).toMatchObject({
      kind: 'failed',
      error: { type: 'UpstreamFailed', message: expect.stringContaining(message) },
    })
  })

  test('are cancelled with the call', async () => {
    const { kit, asked } = await kitWith({ status: 'working' })
    const gone = new AbortController()
    const call = kit.invoke('alpha', 'remote.slow', {}, { signal: gone.signal })
    await expect.poll(() => asked.length).toBeGreaterThan(0)
    gone.abort()
    await call.catch(() => {})
    await expect
      .poll(() => asked.at(-1))
      .toEqual({ method: 'tasks/cancel', params: { taskId: 'task-1' } })
  })
})
