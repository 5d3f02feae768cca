import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openSocket } from './support/mcp-socket.ts'
import { Installation, invoke, invokeOnce, pause, type Run } from './support/server.ts'

const heapMib = 192
const many = 30
const large = 9_000_000

/** Outcomes of a control agent's calls while `work` went on. A busy machine may shed some. */
const serving = async (run: Run, token: string, work: Promise<unknown>) => {
  let done = false
  const ended = work.finally(() => {
    done = true
  })
  const counts = { served: 0, shed: 0, failed: 0 }
  const args = { path: 'small.txt', limit: 1_000 }
  // Less often than the limit of calls a minute allows, and with little of the memory that large calls need.
  for (; !done; await pause(120)) {
    const { result, error } = await invokeOnce(run, token, 'filesystem.read', args)
    if (result?.success) counts.served += 1
    else if (error?.data?.['reason'] === 'overloaded') counts.shed += 1
    else counts.failed += 1
  }
  await ended
  return counts
}

const call = (capability: string, args: object): string =>
  JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'capabilities.invoke',
    params: { capability, arguments: args },
  })

/** Answer to a body as it is; a 503 says when to come again. */
const post = async (run: Run, token: string, body: string) => {
  const response = await fetch(`${run.gateway_url}/rpc`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body,
  })
  const text = await response.text()
  if (response.status === 503) expect(response.headers.get('retry-after')).toBe('1')
  return { status: response.status, text }
}

const send = async (...request: Parameters<typeof post>): Promise<number> =>
  (await post(...request)).status

const countsOf = (statuses: readonly number[]): Record<string, number> => {
  const counts: Record<string, number> = {}
  for (const status of statuses) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

test(`${many} requests of 9 MB at once do not end a service with a heap of ${heapMib} MiB`, async () => {
  await using gate = new Installation()
  gate.nodeFlags = [`--max-old-space-size=${heapMib}`]
  const run = await gate.start()
  const greedy = await gate.createAgent('greedy')
  const control = await gate.createAgent('control')
  await invoke(run, control.token, 'filesystem.write', { path: 'small.txt', content: 'here' })

  const texts = ['x'.repeat(large), 'three bytes: €'.repeat(large / 16)]
  for (const text of texts) {
    const body = call('filesystem.write', { path: 'large.txt', content: text })
    const all = Promise.all(
      Array.from({ length: many }, () => send(run, greedy.token, body).catch(() => 0)),
    )
    const { served, failed } = await serving(run, control.token, all)
    const counts = countsOf(await all)
    expect(served).toBeGreaterThan(0)
    expect(failed).toBe(0)
    expect(counts['200'], JSON.stringify(counts)).toBeGreaterThan(0)
    expect(counts['503'], JSON.stringify(counts)).toBeGreaterThan(0)
    const expected = (counts['200'] ?? 0) + (counts['503'] ?? 0) + (counts['0'] ?? 0)
    expect(expected, JSON.stringify(counts)).toBe(many)
  }
  // Calls that were refused pass later.
  const body = call('filesystem.write', { path: 'large.txt', content: 'x'.repeat(large) })
  await expect.poll(() => send(run, greedy.token, body)).toBe(200)

  // Small values, of which many make a large body.
  const values = `{"a":[${'[],'.repeat(190_000)}1]}`
  const dense = call('state.set', { key: 'k', value: JSON.parse(values) as unknown })
  const all = Promise.all(
    Array.from({ length: many }, () => send(run, greedy.token, dense).catch(() => 0)),
  )
  expect((await serving(run, control.token, all)).failed).toBe(0)
  expect(gate.run?.pid).toBe(run.pid)
})

test('frames of 9 MB on many WebSockets wait for each other, and are answered', async () => {
  await using gate = new Installation()
  gate.nodeFlags = [`--max-old-space-size=${heapMib}`]
  const run = await gate.start()
  const greedy = await gate.createAgent('greedy')
  const control = await gate.createAgent('control')
  await invoke(run, control.token, 'filesystem.write', { path: 'small.txt', content: 'here' })
  writeFileSync(join(greedy.workspace, 'small.txt'), 'here')
  const frame = JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'filesystem__write', arguments: { path: 'w.txt', content: 'x'.repeat(large) } },
  })
  const answered = async (): Promise<string> => {
    const ws = await openSocket(run.mcp_url, greedy.token)
    return new Promise((resolve, reject) => {
      ws.once('error', reject)
      ws.on('message', (data: Buffer) => {
        const text = data.toString()
        if (!text.includes('"id":1')) return
        ws.terminate()
        resolve(text)
      })
      ws.send(frame)
    })
  }
  const all = Promise.all(Array.from({ length: 12 }, answered))
  expect((await serving(run, control.token, all)).failed).toBe(0)
  for (const text of await all) expect(text).toContain('"result"')
})

/** A file of 9 MB and a call that asks for as much of it as there is to get: 8 MiB. */
const readLarge = (id = 1) => ({
  jsonrpc: '2.0',
  id,
  method: 'capabilities.invoke',
  params: { capability: 'filesystem.read', arguments: { path: 'large.txt', limit: 8_388_608 } },
})

type Answer = { id: number; result?: { success: boolean }; error?: { code: number } }

/** A socket that asks for the file `calls` times and reads nothing before it is told to. */
const lazySocket = async (run: Run, token: string, calls: number) => {
  const ws = await openSocket(run.mcp_url, token)
  ws.pause()
  const { params } = readLarge()
  const name = 'filesystem__read'
  for (let id = 1; id <= calls; id++)
    ws.send(
      JSON.stringify({
        jsonrpc: '2.0',
        id,
        method: 'tools/call',
        params: { name, arguments: params.arguments },
      }),
    )
  return {
    ws,
    async readAll(): Promise<number> {
      let answers = 0
      const all = new Promise<void>((resolve) => {
        ws.on('message', () => {
          answers += 1
          if (answers === calls) resolve()
        })
        // A peer that has not read for too long is cut off.
        ws.once('close', () => resolve())
      })
      ws.resume()
      await all
      ws.terminate()
      return answers
    },
  }
}

test('small requests for large answers do not end a service with a small heap', async () => {
  await using gate = new Installation()
  gate.nodeFlags = [`--max-old-space-size=${heapMib}`]
  const run = await gate.start()
  const greedy = await gate.createAgent('greedy')
  const control = await gate.createAgent('control')
  await invoke(run, control.token, 'filesystem.write', { path: 'small.txt', content: 'here' })
  writeFileSync(join(greedy.workspace, 'large.txt'), 'x'.repeat(large))

  const alone = JSON.stringify(readLarge())
  const all = Promise.all(Array.from({ length: 40 }, () => send(run, greedy.token, alone)))
  const during = await serving(run, control.token, all)
  expect(during.failed).toBe(0)
  expect(during.served).toBeGreaterThan(0)
  const counts = countsOf(await all)
  expect(counts['200'], JSON.stringify(counts)).toBeGreaterThan(0)
  expect((counts['200'] ?? 0) + (counts['503'] ?? 0), JSON.stringify(counts)).toBe(40)

  const requests = JSON.stringify(Array.from({ length: 20 }, (_, i) => readLarge(i)))
  const batch = async (): Promise<Answer[]> => {
    // Late by its own work, the service may shed a batch as a whole.
    for (;;) {
      const { status, text } = await post(run, greedy.token, requests)
      if (status !== 503) return JSON.parse(text) as Answer[]
      await pause(1_000)
    }
  }
  const batches = Promise.all([batch(), batch()])
  expect((await serving(run, control.token, batches)).failed).toBe(0)
  for (const answers of await batches) {
    expect(answers.map(({ id }) => id)).toEqual(Array.from({ length: 20 }, (_, i) => i))
    expect(answers.some(({ result }) => result?.success === true)).toBe(true)
    for (const { error } of answers)
      if (error) expect(error).toMatchObject({ code: -32000, data: { retry_after_seconds: 1 } })
  }

  const sockets = await Promise.all(
    Array.from({ length: 10 }, () => lazySocket(run, greedy.token, 3)),
  )
  for (let i = 0; i < 20; i++) {
    const { result } = await invoke(run, control.token, 'filesystem.read', { path: 'small.txt' })
    expect(result?.success).toBe(true)
  }
  const read = Promise.all(sockets.map((socket) => socket.readAll()))
  expect((await serving(run, control.token, read)).failed).toBe(0)
  expect((await read).some((answers) => answers > 0)).toBe(true)
  // All of it is free again.
  await expect.poll(() => send(run, greedy.token, alone)).toBe(200)
  expect(gate.run?.pid).toBe(run.pid)
  expect(() => process.kill(run.pid, 0)).not.toThrow()
})
