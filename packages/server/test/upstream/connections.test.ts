import type { ServerResponse } from 'node:http'
import { createKit } from '@gatehouse/testkit'
import { expect, test } from 'vitest'
import { outboundWith } from '../../src/outbound/testing.ts'
import { openNotes } from './features-server.ts'

/** A service with the server behind it, whose tools agents may call. */
const kitWith = async (notes: Awaited<ReturnType<typeof openNotes>>) => {
  const outbound = outboundWith({ privateTargets: [new URL(notes.url).host] })
  const kit = await createKit({ outbound })
  const { digest } = await kit.app.addUpstream(kit.operator(), {
    name: 'notes',
    server: { kind: 'http', url: notes.url },
    grants: { folders: [], hosts: [], environment: {} },
    credentials: {},
    per_agent: true,
    dry_run: false,
  })
  await kit.app.acceptUpstream(kit.operator(), { name: 'notes', digest })
  await kit.parts.policy.save({
    text: 'version: 1\nrules:\n  - {match: notes.*, tier: autonomous}\n',
  })
  return kit
}

test('calls of an agent follow each other over one connection, which no other agent uses', async () => {
  await using notes = await openNotes()
  await using kit = await kitWith(notes)
  const used: Set<unknown>[] = []
  for (const agent of ['alpha', 'beta']) {
    await kit.agent(agent)
    const before = notes.requests.length
    for (let i = 0; i < 5; i += 1)
      expect(await kit.invoke(agent, 'notes.of_region', { region: 'x' })).toMatchObject({
        kind: 'succeeded',
      })
    const calls = notes.requests
      .slice(before)
      .filter(({ headers }) => headers['mcp-method'] === 'tools/call')
    expect(calls).toHaveLength(5)
    used.push(new Set(calls.map(({ socket }) => socket)))
  }
  expect(used.map((sockets) => sockets.size)).toEqual([1, 1])
  expect(new Set(used.flatMap((sockets) => [...sockets])).size).toBe(2)
  await kit.app.restartUpstream(kit.operator(), { name: 'notes' })
  await expect.poll(() => notes.requests.every(({ socket }) => socket.destroyed)).toBe(true)
})

test('calls of an agent that run at once warn of nothing', async () => {
  await using notes = await openNotes()
  await using kit = await kitWith(notes)
  await kit.agent('alpha')
  const warnings: Error[] = []
  const onWarning = (warning: Error) => warnings.push(warning)
  process.on('warning', onWarning)
  try {
    const calls = Array.from({ length: 20 }, () =>
      kit.invoke('alpha', 'notes.of_region', { region: 'x' }),
    )
    for (const { kind } of await Promise.all(calls)) expect(kind).toBe('succeeded')
    await new Promise((resolve) => setImmediate(resolve))
  } finally {
    process.off('warning', onWarning)
  }
  expect(warnings).toEqual([])
})

test('a call whose answer ends without a result fails at once, and says so', async () => {
  const stream = { 'content-type': 'text/event-stream' }
  const json = { 'content-type': 'application/json; charset=utf-8' }
  const strange = { jsonrpc: '2.0', id: 'of-somebody-else', result: { content: [] } }
  const unread = { jsonrpc: '2.0', id: null, error: { code: -32700, message: 'no JSON' } }
  const ways: Readonly<Record<string, (response: ServerResponse) => unknown>> = {
    accepted: (response) => response.writeHead(202).end(),
    ended: (response) => response.writeHead(200, stream).end(': nothing\n\n'),
    broken: (response) =>
      response.writeHead(200, stream).write(': nothing\n\n', () => response.destroy()),
    strange: (response) => response.writeHead(200, json).end(JSON.stringify(strange)),
    batched: (response) => response.writeHead(200, json).end(JSON.stringify([strange])),
    mixed: (response) =>
      response.writeHead(200, stream).end(`data: ${JSON.stringify(strange)}\n\n`),
    unread: (response) => response.writeHead(200, json).end(JSON.stringify(unread)),
  }
  await using notes = await openNotes((body, response) => {
    const way = Object.keys(ways).find((name) => body.includes(`"${name}"`))
    if (way) ways[way]?.(response)
    return way !== undefined
  })
  await using kit = await kitWith(notes)
  await kit.agent('alpha')
  for (const [region, detail] of [
    ['accepted', 'it took the request and sent no answer'],
    ['ended', 'its answer broke off before there was a result'],
    ['broken', 'its answer broke off before there was a result'],
    ['strange', 'what it sent is the answer to another request'],
    ['batched', 'what it sent is the answer to another request'],
    ['mixed', 'its answer broke off before there was a result'],
  ] as const) {
    const called = await kit.invoke('alpha', 'notes.of_region', { region })
    expect(called, region).toMatchObject({
      kind: 'failed',
      error: { type: 'UpstreamFailed', message: expect.stringContaining(detail) },
    })
    // Whatever the official client asks, too.
    const prompt = { name: 'sum-up', arguments: { note: region } }
    expect(await kit.invoke('alpha', 'notes.get_prompt', prompt), region).toMatchObject({
      kind: 'failed',
      error: { type: 'UpstreamFailed', message: expect.stringContaining(detail) },
    })
  }
  expect(await kit.invoke('alpha', 'notes.of_region', { region: 'unread' })).toMatchObject({
    kind: 'failed',
    error: { message: 'of_region of notes failed with code -32700: no JSON' },
  })
  expect(await kit.invoke('alpha', 'notes.of_region', { region: 'x' })).toMatchObject({
    kind: 'succeeded',
  })
})
